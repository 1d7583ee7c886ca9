#include "planner/layout/tiling.h"

#include <algorithm>
#include <bit>

namespace meshwright::layout {
namespace {

constexpr int kSymbolBits = 4;
constexpr int kKeySymbols = 128 / kSymbolBits;
static_assert(kMaxAxes + kMaxDims <= kKeySymbols);
static_assert(kMaxAxes * kSymbolBits <= 32);

}  // namespace

void PackedSpec::Append(int dim, int axis) {
  order[dim] = WithLast(order[dim], axis);
  axes[dim] |= AxisSet{1} << axis;
  used |= AxisSet{1} << axis;
}

void PackedSpec::RemoveLast(int dim) {
  const AxisSet axis = AxisSet{1} << LastAxis(order[dim]);
  order[dim] = WithoutLast(order[dim]);
  axes[dim] &= ~axis;
  used &= ~axis;
}

Tiling::Tiling(const LayoutProblem& problem)
    : shape_(problem.shape),
      elem_bytes_(problem.elem_bytes),
      mesh_(problem.mesh) {
  parts_.assign(size_t{1} << mesh_.size(), 1);
  for (AxisSet set = 1; set < parts_.size(); ++set) {
    parts_[set] = parts_[set & (set - 1)] * mesh_[std::countr_zero(set)];
  }
  tiles_.reserve(shape_.size() * parts_.size());
  for (const int64_t size : shape_) {
    for (const int64_t parts : parts_) {
      tiles_.push_back(base::TileSize(size, parts));
    }
  }
}

bool Tiling::Aligns(int dim, AxisSet axes, int axis) const {
  const int64_t joined = Tile(dim, axes & ~(AxisSet{1} << axis));
  // With one joined tile that holds everything, its parts cannot cross it.
  return joined == Tile(dim, axes) * mesh_[axis] || joined == shape_[dim];
}

int64_t Tiling::Bytes(const PackedSpec& spec) const {
  int64_t bytes = elem_bytes_;
  for (int d = 0; d < dims(); ++d) bytes *= Tile(d, spec.axes[d]);
  return bytes;
}

Role Tiling::FindRole(int dim, int64_t stride) const {
  if (stride >= shape_[dim]) return {Role::kIdle, 0};
  return {dim, stride};
}

Roles Tiling::FindRoles(const PackedSpec& spec) const {
  Roles roles;
  for (int d = 0; d < dims(); ++d) {
    int64_t stride = Tile(d, spec.axes[d]);
    for (AxisOrder rest = spec.order[d]; rest != 0; rest = WithoutLast(rest)) {
      const int axis = LastAxis(rest);
      if (mesh_[axis] > 1) roles[axis] = FindRole(d, stride);
      stride *= mesh_[axis];
    }
  }
  return roles;
}

PackedSpec Tiling::Pack(const Spec& spec) const {
  PackedSpec packed;
  for (int d = 0; d < dims(); ++d) {
    for (const int axis : spec[d]) packed.Append(d, axis);
  }
  return packed;
}

Spec Tiling::Unpack(const PackedSpec& spec) const {
  Spec lists(dims());
  for (int d = 0; d < dims(); ++d) {
    for (AxisOrder rest = spec.order[d]; rest != 0; rest = WithoutLast(rest)) {
      lists[d].push_back(LastAxis(rest));
    }
    std::reverse(lists[d].begin(), lists[d].end());
  }
  return lists;
}

// Symbols from the top: the axes of a dimension, major first, then a 0.
absl::uint128 Tiling::Key(const PackedSpec& spec) const {
  absl::uint128 key = 0;
  for (int d = 0; d < dims(); ++d) {
    const int digits = std::popcount(spec.axes[d]);
    key = key << (kSymbolBits * digits) | spec.order[d];
    key <<= kSymbolBits;
  }
  const int free = kKeySymbols - dims() - std::popcount(spec.used);
  return free == kKeySymbols ? key : key << (kSymbolBits * free);
}

PackedSpec Tiling::FromKey(absl::uint128 key) const {
  PackedSpec spec;
  for (int d = 0; d < dims();) {
    const int symbol = static_cast<int>(absl::Uint128High64(key) >> 60);
    key <<= kSymbolBits;
    if (symbol == 0) {
      ++d;
    } else {
      spec.Append(d, symbol - 1);
    }
  }
  return spec;
}

}  // namespace meshwright::layout
