#include <algorithm>

#include "tests/conformance/op_rules_generators.h"

namespace meshwright::conformance {
namespace {

// The common parts of gather and scatter: an array that indices point into and
// windows of it, one per index.
struct Indexed {
  Dims array;
  Dims window;                    // sizes, by dimension of the array
  std::vector<int64_t> map;       // dimensions that indices point into
  std::vector<int64_t> dropped;   // collapsed or inserted
  std::vector<int64_t> batching;  // of the array
  std::vector<int64_t> index_batching;
  Dims indices;
  int64_t index_vector_dim = 0;
  Dims counts;  // sizes of the indices but the vector
  Dims kept;    // sizes of the windows that are kept
  // Places of `kept` in an array of `kept` and `counts`, and its sizes.
  std::vector<int64_t> kept_at;
  Dims joined;
  int64_t largest = 1;  // of the dimensions that are pointed into
};

Indexed DrawIndexed(Draw& draw) {
  Indexed it;
  const int rank = draw.Between(1, 3);
  it.array = draw.Sizes(rank);
  if (rank > 1 && draw.Coin()) it.batching = {draw.Below(rank)};
  std::vector<int64_t> rest;
  for (int dim = 0; dim < rank; ++dim) {
    if (it.batching.empty() || it.batching[0] != dim) rest.push_back(dim);
  }
  const int pointed =
      draw.Between(1, std::min(2, static_cast<int>(rest.size())));
  for (const int64_t i : draw.Permutation(static_cast<int>(rest.size()))) {
    if (static_cast<int>(it.map.size()) < pointed) it.map.push_back(rest[i]);
  }
  it.window = it.array;
  for (const int64_t dim : it.batching) it.window[dim] = 1;
  for (const int64_t dim : rest) {
    const bool indexed =
        std::find(it.map.begin(), it.map.end(), dim) != it.map.end();
    if (indexed) it.largest = std::max(it.largest, it.array[dim]);
    const int kind = draw.Below(indexed ? 4 : 6);
    if (kind <= 1 && indexed) {
      it.window[dim] = 1;
      it.dropped.push_back(dim);
    } else if (kind == 2) {
      it.window[dim] = draw.Between(1, static_cast<int>(it.array[dim]));
    }
    if (it.dropped.empty() || it.dropped.back() != dim) {
      it.kept.push_back(it.window[dim]);
    }
  }
  const int batches = draw.Between(0, 2);
  for (int i = 0; i < batches; ++i) it.counts.push_back(draw.Size());
  if (!it.batching.empty()) {
    const int at = draw.Between(0, batches);
    it.counts.insert(it.counts.begin() + at, it.array[it.batching[0]]);
    it.index_batching = {at};
  }
  it.indices = it.counts;
  it.index_vector_dim = static_cast<int64_t>(it.indices.size());
  if (pointed != 1 || draw.Coin()) {
    it.index_vector_dim = draw.Between(0, static_cast<int>(it.indices.size()));
    it.indices.insert(it.indices.begin() + it.index_vector_dim, pointed);
    for (int64_t& dim : it.index_batching) dim += dim >= it.index_vector_dim;
  }
  const int total = static_cast<int>(it.kept.size() + it.counts.size());
  it.kept_at = draw.Choose(static_cast<int>(it.kept.size()), total);
  size_t next_kept = 0;
  size_t next_count = 0;
  for (int dim = 0; dim < total; ++dim) {
    const bool kept =
        next_kept < it.kept.size() && it.kept_at[next_kept] == dim;
    it.joined.push_back(kept ? it.kept[next_kept++] : it.counts[next_count++]);
  }
  return it;
}

Indexed Small(Draw& draw) {
  while (true) {
    Indexed it = DrawIndexed(draw);
    if (Product(it.joined) <= 3000 && Product(it.indices) <= 3000) return it;
  }
}

// Out of range ones too: a gather clamps them, a scatter leaves them out.
Values Indices(const Indexed& it) {
  return {Values::kWhole, -1, static_cast<double>(it.largest)};
}

template <typename Repeated>
void Set(Repeated* field, const std::vector<int64_t>& values) {
  field->Assign(values.begin(), values.end());
}

OpCase Gather(Draw& draw) {
  const Indexed it = Small(draw);
  OpCase one;
  one.op.set_opcode("gather");
  auto& numbers = *one.op.mutable_gather_dimension_numbers();
  Set(numbers.mutable_offset_dims(), it.kept_at);
  Set(numbers.mutable_collapsed_slice_dims(), it.dropped);
  Set(numbers.mutable_start_index_map(), it.map);
  Set(numbers.mutable_operand_batching_dims(), it.batching);
  Set(numbers.mutable_start_indices_batching_dims(), it.index_batching);
  numbers.set_index_vector_dim(it.index_vector_dim);
  Set(one.op.mutable_gather_slice_sizes(), it.window);
  one.operands = {{ArrayShape(hlo::F32, it.array), {Values::kWhole, -500, 500}},
                  {ArrayShape(hlo::S32, it.indices), Indices(it)}};
  one.result = ArrayShape(hlo::F32, it.joined);
  return one;
}

OpCase Scatter(Draw& draw) {
  const Indexed it = Small(draw);
  OpCase one;
  one.op.set_opcode("scatter");
  auto& numbers = *one.op.mutable_scatter_dimension_numbers();
  Set(numbers.mutable_update_window_dims(), it.kept_at);
  Set(numbers.mutable_inserted_window_dims(), it.dropped);
  Set(numbers.mutable_scatter_dims_to_operand_dims(), it.map);
  Set(numbers.mutable_input_batching_dims(), it.batching);
  Set(numbers.mutable_scatter_indices_batching_dims(), it.index_batching);
  numbers.set_index_vector_dim(it.index_vector_dim);
  const Operand input = {ArrayShape(hlo::F32, it.array)};
  const Operand indices = {ArrayShape(hlo::S32, it.indices), Indices(it)};
  const Operand updates = {ArrayShape(hlo::F32, it.joined)};
  if (draw.Coin()) {
    one.operands = {input, indices, updates};
    one.result = input.shape;
    one.callees = {{"add", {hlo::F32, hlo::F32}}};
  } else {
    one.operands = {input, input, indices, updates, updates};
    one.result = TupleShape({input.shape, input.shape});
    one.callees = {{"max-and-sum", {hlo::F32, hlo::F32, hlo::F32, hlo::F32}}};
  }
  return one;
}

// Sizes of a window of the array: whole, one, or any.
Dims DrawWindow(Draw& draw, const Dims& dims) {
  Dims window;
  for (const int64_t size : dims) {
    const int kind = draw.Below(4);
    window.push_back(kind <= 1   ? size
                     : kind == 2 ? 1
                                 : draw.Between(1, static_cast<int>(size)));
  }
  return window;
}

void AddStarts(OpCase& one, int rank) {
  for (int i = 0; i < rank; ++i) {
    one.operands.push_back(
        {ArrayShape(hlo::S32, {}), {Values::kWhole, -1, 12}});
  }
}

OpCase DynamicSlice(Draw& draw) {
  const Dims dims = draw.Sizes(draw.Between(1, 3));
  const Dims window = DrawWindow(draw, dims);
  OpCase one;
  one.op.set_opcode("dynamic-slice");
  Set(one.op.mutable_dynamic_slice_sizes(), window);
  one.operands = {{ArrayShape(hlo::F32, dims)}};
  AddStarts(one, static_cast<int>(dims.size()));
  one.result = ArrayShape(hlo::F32, window);
  return one;
}

OpCase DynamicUpdateSlice(Draw& draw) {
  const Dims dims = draw.Sizes(draw.Between(1, 3));
  OpCase one;
  one.op.set_opcode("dynamic-update-slice");
  one.operands = {{ArrayShape(hlo::F32, dims)},
                  {ArrayShape(hlo::F32, DrawWindow(draw, dims))}};
  AddStarts(one, static_cast<int>(dims.size()));
  one.result = ArrayShape(hlo::F32, dims);
  return one;
}

}  // namespace

std::vector<OpGenerator> IndexedGenerators() {
  return {{"gather", Gather, 24},
          {"scatter", Scatter, 24},
          {"dynamic-slice", DynamicSlice, 8},
          {"dynamic-update-slice", DynamicUpdateSlice, 8}};
}

}  // namespace meshwright::conformance
