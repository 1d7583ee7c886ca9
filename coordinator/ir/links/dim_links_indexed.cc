#include <algorithm>

#include "coordinator/ir/links/dim_links_rules.h"

namespace meshwright::ir {
namespace {

// The dimensions of 0 .. rank - 1 that `taken` does not name, ascending.
template <typename Repeated>
std::vector<int> Others(int rank, const Repeated& taken) {
  std::vector<int> others;
  for (int dim = 0; dim < rank; ++dim) {
    if (!Contains(taken, dim)) others.push_back(dim);
  }
  return others;
}

std::vector<DimLink> SameSize(const Shape& in, const Shape& out) {
  std::vector<DimLink> links;
  for (int i = 0; i < in.rank(); ++i) {
    if (in.dims[i] == out.dims[i]) links.push_back({i, i});
  }
  return links;
}

// The dimensions of the indices that count slices, as pairs of dimension and
// its place in `places` (the gather's output, the scatter's updates).
std::vector<DimLink> IndexPairs(int index_rank, int64_t index_vector_dim,
                                const std::vector<int>& places) {
  std::vector<DimLink> pairs;
  size_t next = 0;
  for (int dim = 0; dim < index_rank; ++dim) {
    if (dim != index_vector_dim) pairs.push_back({dim, places[next++]});
  }
  return pairs;
}

}  // namespace

std::vector<DimLink> FindGatherLinks(const Module& module,
                                     const Instruction& it, int operand) {
  if (operand > 1) return {};
  const auto& numbers = it.attributes().gather_dimension_numbers();
  const std::vector<DimLink> indices = IndexPairs(
      module.at(it.operands[1]).shape.rank(), numbers.index_vector_dim(),
      Others(it.shape.rank(), numbers.offset_dims()));
  if (operand == 1) return indices;
  std::vector<DimLink> links;
  const Shape& in = module.at(it.operands[0]).shape;
  int offset = 0;
  for (int dim = 0; dim < in.rank(); ++dim) {
    if (Contains(numbers.collapsed_slice_dims(), dim) ||
        Contains(numbers.operand_batching_dims(), dim)) {
      continue;
    }
    const int out = static_cast<int>(numbers.offset_dims(offset++));
    if (it.attributes().gather_slice_sizes(dim) == in.dims[dim]) {
      links.push_back({dim, out});
    }
  }
  for (int i = 0; i < numbers.operand_batching_dims_size(); ++i) {
    for (const DimLink& pair : indices) {
      if (pair.in != numbers.start_indices_batching_dims(i)) continue;
      links.push_back(
          {static_cast<int>(numbers.operand_batching_dims(i)), pair.out});
    }
  }
  return links;
}

std::vector<DimLink> FindScatterLinks(const Module& module,
                                      const Instruction& it, int operand) {
  const int inputs = static_cast<int>(it.operands.size()) / 2;
  const auto& numbers = it.attributes().scatter_dimension_numbers();
  const Shape& target = module.at(it.operands[0]).shape;
  const Shape& updates = module.at(it.operands[inputs + 1]).shape;
  std::vector<DimLink> links;
  // Batching dimensions are in all three: the input, indices and updates.
  for (const DimLink& pair :
       IndexPairs(module.at(it.operands[inputs]).shape.rank(),
                  numbers.index_vector_dim(),
                  Others(updates.rank(), numbers.update_window_dims()))) {
    for (int i = 0; i < numbers.input_batching_dims_size(); ++i) {
      if (pair.in != numbers.scatter_indices_batching_dims(i)) continue;
      const int out = static_cast<int>(numbers.input_batching_dims(i));
      links.push_back({operand < inputs    ? out
                       : operand == inputs ? pair.in
                                           : pair.out,
                       out});
    }
  }
  if (operand == inputs) return links;
  int window = 0;
  for (int dim = 0; dim < target.rank(); ++dim) {
    if (Contains(numbers.input_batching_dims(), dim)) continue;
    if (Contains(numbers.inserted_window_dims(), dim)) {
      if (operand < inputs &&
          Contains(numbers.scatter_dims_to_operand_dims(), dim)) {
        links.push_back({dim, dim});
      }
      continue;
    }
    const int from = static_cast<int>(numbers.update_window_dims(window++));
    if (updates.dims[from] == target.dims[dim]) {
      links.push_back({operand < inputs ? dim : from, dim});
    }
  }
  return links;
}

std::vector<DimLink> FindDynamicSliceLinks(const Module& module,
                                           const Instruction& it, int operand) {
  if (operand > 0) return {};
  return SameSize(module.at(it.operands[0]).shape, it.shape);
}

std::vector<DimLink> FindDynamicUpdateSliceLinks(const Module& module,
                                                 const Instruction& it,
                                                 int operand) {
  if (operand > 1) return {};
  return SameSize(module.at(it.operands[1]).shape, it.shape);
}

}  // namespace meshwright::ir
