#include "coordinator/ir/links/dim_links.h"

#include <algorithm>
#include <optional>

#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/ir/links/dim_links_rules.h"
#include "coordinator/ir/shape.h"

namespace meshwright::ir {
namespace {

std::vector<DimLink> Identity(int rank) {
  std::vector<DimLink> links;
  links.reserve(rank);
  for (int i = 0; i < rank; ++i) links.push_back({i, i});
  return links;
}

// The identity without the dimensions that the operation names.
std::vector<DimLink> AllBut(const Instruction& it, int rank) {
  std::vector<DimLink> links = Identity(rank);
  std::erase_if(links, [&](const DimLink& link) {
    return Contains(it.attributes().dimensions(), link.in);
  });
  return links;
}

std::vector<DimLink> Leading(int count) { return Identity(std::max(count, 0)); }

std::vector<DimLink> DotLinks(const Module& module, ValueId user, int operand) {
  std::vector<DimLink> links;
  const DotDims dims = GetDotDims(module, user);
  for (size_t i = 0; i < dims.side[operand].size(); ++i) {
    const std::optional<int> output = dims.side[operand][i].output;
    if (output.has_value()) links.push_back({static_cast<int>(i), *output});
  }
  return links;
}

std::vector<DimLink> SliceLinks(const Instruction& it,
                                const std::vector<int64_t>& in) {
  std::vector<DimLink> links;
  for (int i = 0; i < static_cast<int>(in.size()); ++i) {
    const auto& slice = it.attributes().slice_dimensions(i);
    const __int128 covered =
        static_cast<__int128>(it.shape.dims[i]) * slice.stride();
    if (in[i] == it.shape.dims[i] ||
        (slice.start() < slice.stride() && covered == in[i])) {
      links.push_back({i, i});
    }
  }
  return links;
}

// A dimension that gets as much around every element as around any other.
std::vector<DimLink> PadLinks(const Instruction& it,
                              const std::vector<int64_t>& in) {
  std::vector<DimLink> links;
  for (int i = 0; i < static_cast<int>(in.size()); ++i) {
    const auto& pad = it.attributes().padding_config().dimensions(i);
    const __int128 each = static_cast<__int128>(pad.interior_padding()) + 1;
    if (pad.edge_padding_low() >= 0 && pad.edge_padding_low() < each &&
        it.shape.dims[i] == in[i] * each) {
      links.push_back({i, i});
    }
  }
  return links;
}

std::vector<DimLink> ConcatenateLinks(const Instruction& it,
                                      const std::vector<int64_t>& in) {
  // Beside empty operands the joined dimension passes too.
  std::vector<DimLink> links = Identity(static_cast<int>(in.size()));
  std::erase_if(links, [&](const DimLink& link) {
    return in[link.in] != it.shape.dims[link.out];
  });
  return links;
}

std::vector<DimLink> CollectiveLinks(const Instruction& it,
                                     const std::vector<int64_t>& in,
                                     const std::vector<int64_t>& out) {
  if (in.size() != out.size()) return {};
  std::vector<DimLink> links = AllBut(it, static_cast<int>(in.size()));
  std::erase_if(
      links, [&](const DimLink& link) { return in[link.in] != out[link.out]; });
  return links;
}

std::vector<DimLink> TriangularSolveLinks(const Module& module,
                                          const Instruction& it, int operand) {
  const int rank = it.shape.rank();
  std::vector<DimLink> links = Leading(rank - 2);
  if (operand == 1) {
    const bool left = it.attributes().triangular_solve_options().left_side();
    const int sides = left ? rank - 1 : rank - 2;
    links.push_back({sides, sides});
  }
  return links;
}

// As a reshape between arrays of bits.
std::vector<DimLink> BitcastLinks(const Shape& in, const Shape& out) {
  std::vector<int64_t> in_bits = in.dims;
  std::vector<int64_t> out_bits = out.dims;
  in_bits.push_back(CountElementBits(in.element_type));
  out_bits.push_back(CountElementBits(out.element_type));
  if (in.element_count() * in_bits.back() !=
      out.element_count() * out_bits.back()) {
    return {};  // parts of bytes are left over
  }
  std::vector<DimLink> links = FindReshapeLinks(in_bits, out_bits);
  std::erase_if(links, [&](const DimLink& link) {
    return link.in == in.rank() || link.out == out.rank();
  });
  return links;
}

}  // namespace

std::vector<DimLink> FindReshapeLinks(const std::vector<int64_t>& in,
                                      const std::vector<int64_t>& out) {
  std::vector<DimLink> links;
  size_t i = 0;
  size_t j = 0;
  while (true) {
    while (i < in.size() && in[i] == 1) ++i;
    while (j < out.size() && out[j] == 1) ++j;
    if (i >= in.size() || j >= out.size()) break;
    links.push_back({static_cast<int>(i), static_cast<int>(j)});
    int64_t left = in[i++];
    int64_t right = out[j++];
    while (left != right) {
      if (left < right) {
        if (i >= in.size()) return links;
        left *= in[i++];
      } else {
        if (j >= out.size()) return links;
        right *= out[j++];
      }
    }
  }
  return links;
}

bool IsTransformed(const Module& module, ValueId id, int dim) {
  const Instruction& it = module.at(id);
  if (it.opcode != Opcode::kFft) return false;
  const int rank = static_cast<int>(it.shape.dims.size());
  return dim >= rank - it.attributes().fft_length_size();
}

std::vector<DimLink> FindDimLinks(const Module& module, ValueId user,
                                  int operand) {
  const Instruction& it = module.at(user);
  const Instruction& source = module.at(it.operands[operand]);
  const std::vector<int64_t>* in = CollectUniformDims(source.shape);
  const std::vector<int64_t>* out = CollectUniformDims(it.shape);
  if (in == nullptr || out == nullptr) return {};
  const int rank = static_cast<int>(in->size());
  const bool alike = *in == *out;
  switch (it.opcode) {
    case Opcode::kElementwise:
    case Opcode::kConvert:
    case Opcode::kCopy:
    case Opcode::kSelect:
    case Opcode::kOptimizationBarrier:
    case Opcode::kCarry:
    case Opcode::kLoopResult:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
      return alike ? Identity(rank) : std::vector<DimLink>{};
    case Opcode::kReshape:
      return FindReshapeLinks(*in, *out);
    case Opcode::kBitcast:
    case Opcode::kBitcastConvert:
      return BitcastLinks(source.shape, it.shape);
    case Opcode::kBroadcast: {
      std::vector<DimLink> links;
      links.reserve(rank);
      for (int i = 0; i < rank; ++i) {
        links.push_back({i, static_cast<int>(it.attributes().dimensions(i))});
      }
      return links;
    }
    case Opcode::kTranspose: {
      std::vector<DimLink> links;
      links.reserve(rank);
      for (int i = 0; i < rank; ++i) {
        links.push_back({static_cast<int>(it.attributes().dimensions(i)), i});
      }
      return links;
    }
    case Opcode::kReduce: {
      if (operand >= static_cast<int>(it.operands.size()) / 2) return {};
      std::vector<DimLink> links = AllBut(it, rank);
      for (int i = 0; i < static_cast<int>(links.size()); ++i) links[i].out = i;
      return links;
    }
    case Opcode::kBatchNormInference:
      if (operand == 0) return Identity(rank);
      return {{0, static_cast<int>(it.attributes().feature_index())}};
    case Opcode::kCholesky:
      return Leading(rank - 2);
    case Opcode::kCollective:
      return CollectiveLinks(it, *in, *out);
    case Opcode::kConcatenate:
      return ConcatenateLinks(it, *in);
    case Opcode::kConvolution:
      return FindConvolutionLinks(module, it, operand);
    case Opcode::kDot:
      return DotLinks(module, user, operand);
    case Opcode::kDynamicSlice:
      return FindDynamicSliceLinks(module, it, operand);
    case Opcode::kDynamicUpdateSlice:
      return FindDynamicUpdateSliceLinks(module, it, operand);
    case Opcode::kFft:
      return Leading(rank - it.attributes().fft_length_size());
    case Opcode::kGather:
      return FindGatherLinks(module, it, operand);
    case Opcode::kPad:
      return operand == 0 ? PadLinks(it, *in) : std::vector<DimLink>{};
    case Opcode::kReduceWindow:
      return FindReduceWindowLinks(module, it, operand);
    case Opcode::kReverse:
      return AllBut(it, rank);
    case Opcode::kScatter:
      return FindScatterLinks(module, it, operand);
    case Opcode::kSelectAndScatter:
      return FindSelectAndScatterLinks(module, it, operand);
    case Opcode::kSlice:
      return SliceLinks(it, *in);
    case Opcode::kSort:
      return alike ? AllBut(it, rank) : std::vector<DimLink>{};
    case Opcode::kTopK:
      return Leading(rank - 1);
    case Opcode::kTriangularSolve:
      return TriangularSolveLinks(module, it, operand);
    default:
      return {};
  }
}

}  // namespace meshwright::ir
