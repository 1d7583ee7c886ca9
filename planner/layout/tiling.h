// Tiling: the tiles that sharding specs of one tensor cut it into.
//
// Concept: inside the search a spec is a PackedSpec, one word per dimension. It
// has a key of 128 bits, by which specs compare like the nested lists of the
// JSON format ([[0],[1]] after [[0,1],[]] after [[],[0]]).
// Threads: const after construction.
#ifndef MESHWRIGHT_PLANNER_LAYOUT_TILING_H_
#define MESHWRIGHT_PLANNER_LAYOUT_TILING_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/numeric/int128.h"
#include "planner/layout/layout_problem.h"

namespace meshwright::layout {

// The axes of a dimension, four bits each (axis + 1), the minor one lowest.
using AxisOrder = uint32_t;

inline int LastAxis(AxisOrder order) {
  return static_cast<int>(order & 15) - 1;
}
inline AxisOrder WithoutLast(AxisOrder order) { return order >> 4; }
inline AxisOrder WithLast(AxisOrder order, int axis) {
  return order << 4 | static_cast<AxisOrder>(axis + 1);
}

struct PackedSpec {
  std::array<AxisOrder, kMaxDims> order{};
  std::array<AxisSet, kMaxDims> axes{};
  AxisSet used = 0;

  // Puts the axis at the end of the dimension; it must be unused.
  void Append(int dim, int axis);
  // Takes the last axis off the dimension; there must be one.
  void RemoveLast(int dim);
};

// The effect of an axis on the tiles. Axes of equal roles in two specs of equal
// tiles: no tile has to move along that axis. A step that does not act on an
// axis leaves its role as it is.
struct Role {
  // Numbers beside those of dimensions: the search for layouts compares roles
  // in its innermost loop.
  static constexpr int kCopies = -1;  // holds copies, or has one device
  // All elements are at coordinate 0: the dimension has fewer tiles than the
  // minor axes have parts.
  static constexpr int kIdle = -2;

  int dim = kCopies;
  int64_t stride = 0;  // elements between neighbours along the axis

  bool operator==(const Role&) const = default;
};

using Roles = std::array<Role, kMaxAxes>;

class Tiling {
 public:
  // `problem` must be valid.
  explicit Tiling(const LayoutProblem& problem);

  int dims() const { return static_cast<int>(shape_.size()); }
  int axes() const { return static_cast<int>(mesh_.size()); }
  int64_t AxisSize(int axis) const { return mesh_[axis]; }
  int64_t elem_bytes() const { return elem_bytes_; }
  int64_t DimSize(int dim) const { return shape_[dim]; }
  int64_t Parts(AxisSet axes) const { return parts_[axes]; }
  int64_t Tile(int dim, AxisSet axes) const {
    return tiles_[static_cast<size_t>(dim) * parts_.size() + axes];
  }

  // Whether the tiles over `axes` align with those without `axis`. Each of the
  // latter is then made of the former along `axis`, none of which lies across
  // two.
  bool Aligns(int dim, AxisSet axes, int axis) const;

  int64_t Bytes(const PackedSpec& spec) const;  // of one device
  // Of an axis whose tiles are `stride` elements apart; idle where the
  // dimension ends before.
  Role FindRole(int dim, int64_t stride) const;
  Roles FindRoles(const PackedSpec& spec) const;

  // The spec must fit the mesh; Unpack and FromKey are the way back.
  PackedSpec Pack(const Spec& spec) const;
  Spec Unpack(const PackedSpec& spec) const;
  absl::uint128 Key(const PackedSpec& spec) const;
  PackedSpec FromKey(absl::uint128 key) const;

 private:
  std::vector<int64_t> shape_;
  int64_t elem_bytes_;
  std::vector<int64_t> mesh_;
  std::vector<int64_t> parts_;  // by AxisSet
  std::vector<int64_t> tiles_;  // by dimension and AxisSet
};

}  // namespace meshwright::layout

#endif  // MESHWRIGHT_PLANNER_LAYOUT_TILING_H_
