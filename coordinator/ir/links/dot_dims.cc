#include "coordinator/ir/links/dot_dims.h"

namespace meshwright::ir {
namespace {

template <typename Repeated>
bool Pair(DotDims& dims, DotRole role, const Repeated& lhs_dims,
          const Repeated& rhs_dims, const Shape& lhs, const Shape& rhs) {
  if (lhs_dims.size() != rhs_dims.size()) return false;
  for (int i = 0; i < lhs_dims.size(); ++i) {
    const int64_t l = lhs_dims[i];
    const int64_t r = rhs_dims[i];
    if (l < 0 || l >= lhs.rank() || r < 0 || r >= rhs.rank()) return false;
    if (lhs.dims[l] != rhs.dims[r]) return false;
    DotDims::Dim& left = dims.side[0][l];
    DotDims::Dim& right = dims.side[1][r];
    if (left.partner.has_value() || right.partner.has_value()) return false;
    const std::optional<int> output =
        role == DotRole::kBatch ? std::optional(i) : std::nullopt;
    left = {role, static_cast<int>(r), output};
    right = {role, static_cast<int>(l), output};
  }
  return true;
}

}  // namespace

std::vector<int64_t> DotDims::FindOutputDims(const Shape& lhs,
                                             const Shape& rhs) const {
  std::vector<int64_t> output;
  const Shape* shapes[2] = {&lhs, &rhs};
  for (int s = 0; s < 2; ++s) {
    for (size_t i = 0; i < side[s].size(); ++i) {
      const std::optional<int> target = side[s][i].output;
      if (!target.has_value()) continue;
      if (*target >= static_cast<int>(output.size())) {
        output.resize(*target + 1);
      }
      output[*target] = shapes[s]->dims[i];
    }
  }
  return output;
}

int DotDims::count(DotRole role) const {
  int total = 0;
  for (const Dim& dim : side[0]) total += dim.role == role;
  return total;
}

absl::StatusOr<DotDims> MakeDotDims(const hlo::DotDimensionNumbers& numbers,
                                    const Shape& lhs, const Shape& rhs) {
  DotDims dims;
  dims.side[0].resize(lhs.rank());
  dims.side[1].resize(rhs.rank());
  if (!Pair(dims, DotRole::kBatch, numbers.lhs_batch_dimensions(),
            numbers.rhs_batch_dimensions(), lhs, rhs) ||
      !Pair(dims, DotRole::kContracting, numbers.lhs_contracting_dimensions(),
            numbers.rhs_contracting_dimensions(), lhs, rhs)) {
    return absl::InvalidArgumentError("dot dimensions do not fit");
  }
  int next = numbers.lhs_batch_dimensions_size();
  for (auto& side : dims.side) {
    for (DotDims::Dim& dim : side) {
      if (dim.role == DotRole::kFree) dim.output = next++;
    }
  }
  return dims;
}

}  // namespace meshwright::ir
