#include "coordinator/segmenter/direction/gradient_dims.h"

#include <algorithm>

#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/segmenter/direction/layout_walk.h"

namespace meshwright::segmenter {
namespace {

using ir::DotDims;
using ir::DotRole;
using ir::Module;
using ir::Opcode;
using ir::ValueId;

// The role a dimension of the shared operand has in the backward contraction.
DotRole Transposed(DotRole role) {
  switch (role) {
    case DotRole::kContracting:
      return DotRole::kFree;
    case DotRole::kFree:
      return DotRole::kContracting;
    default:
      return role;
  }
}

// The dimensions of one role, in the order of the output; for roles without
// one, of the operand.
std::vector<int> FindDims(const std::vector<DotDims::Dim>& dims, DotRole role) {
  std::vector<int> found;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].role == role) found.push_back(static_cast<int>(i));
  }
  std::stable_sort(found.begin(), found.end(), [&](int a, int b) {
    return dims[a].output < dims[b].output;
  });
  return found;
}

// For dimensions of a convolution's operand that no walk leads to: the n-th of
// a role is the n-th of the transposed role.
void FillByRole(const std::vector<DotDims::Dim>& backward,
                const std::vector<DotDims::Dim>& forward,
                std::vector<std::optional<int>>& behind) {
  for (const DotRole role : {DotRole::kBatch, DotRole::kContracting,
                             DotRole::kFree, DotRole::kSpatial}) {
    const std::vector<int> from = FindDims(backward, role);
    const std::vector<int> to = FindDims(forward, Transposed(role));
    for (size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
      if (!behind[from[i]].has_value() &&
          std::find(behind.begin(), behind.end(), to[i]) == behind.end()) {
        behind[from[i]] = to[i];
      }
    }
  }
}

void Set(std::vector<std::optional<int>>& dims, std::optional<int> at,
         std::optional<int> value) {
  if (at.has_value()) dims[*at] = value;
}

}  // namespace

std::optional<GradientMatch> DescribeGradient(
    const Module& module, const std::vector<ValueId>& classes, ValueId backward,
    int cotangent_operand, ValueId forward, int read, int64_t& looks_left) {
  const ir::Instruction& it = module.at(backward);
  const ir::Instruction& original = module.at(forward);
  if (it.opcode != original.opcode) return std::nullopt;
  const int g = cotangent_operand;
  const int w = 1 - g;
  const int wanted = 1 - read;
  const DotDims f = ir::GetContractionDims(module, forward);
  const DotDims c = ir::GetContractionDims(module, backward);
  std::vector<std::optional<int>> behind = ListDimsBetween(
      module, &classes, it.operands[w], original.operands[read], looks_left);
  if (it.opcode == Opcode::kConvolution) {
    FillByRole(c.side[w], f.side[read], behind);
  }
  GradientMatch match;
  match.forward = forward;
  match.differentiated = wanted;
  match.cotangent_operand = g;
  match.cotangent_dims.resize(c.side[g].size());
  match.output_dims.resize(it.shape.rank());
  for (size_t dim = 0; dim < c.side[w].size(); ++dim) {
    if (!behind[dim].has_value()) continue;
    const DotDims::Dim& in_f = f.side[read][*behind[dim]];
    const DotDims::Dim& in_c = c.side[w][dim];
    if (in_c.role != Transposed(in_f.role)) return std::nullopt;
    if (in_f.role == DotRole::kContracting) {
      Set(match.output_dims, in_c.output, in_f.partner);
    } else if (in_f.role == DotRole::kFree) {
      Set(match.cotangent_dims, in_c.partner, in_f.output);
    } else {
      Set(match.cotangent_dims, in_c.partner, in_f.output);
      Set(match.output_dims, in_c.output, in_f.partner);
    }
  }
  std::vector<int> rest;
  for (size_t dim = 0; dim < f.side[wanted].size(); ++dim) {
    if (f.side[wanted][dim].role == DotRole::kFree) {
      rest.push_back(static_cast<int>(dim));
    }
  }
  size_t next = 0;
  const auto& shape_a = module.at(original.operands[wanted]).shape.dims;
  const auto& shape_g = module.at(it.operands[g]).shape.dims;
  for (size_t dim = 0; dim < c.side[g].size(); ++dim) {
    const DotDims::Dim& in_c = c.side[g][dim];
    if (in_c.role != DotRole::kFree) continue;
    if (next >= rest.size() || shape_a[rest[next]] != shape_g[dim]) {
      return std::nullopt;
    }
    match.cotangent_dims[dim] = f.side[wanted][rest[next]].output;
    match.output_dims[*in_c.output] = rest[next];
    ++next;
  }
  if (next != rest.size()) return std::nullopt;
  return match;
}

}  // namespace meshwright::segmenter
