// OneStep: every spec that one legal step makes of a spec, with its cost.
//
// Concept: what a step may do:
//   - all-gather and all-to-all take the last axis of a dimension, a slice and
//     an all-to-all put one at the end of a dimension. Tiles must align there
//     (Tiling::Aligns).
//   - a collective-permute makes any spec of which every device's tile is held
//     by some device now, as often as it is wanted. The tiles have the same
//     size, and as many devices share a tile. It crosses the axes whose role
//     changes; it is free when there are none.
//   - a step along an axis of one device is free.
// docs/decisions/layouts.md has the reasons.
// Threads: one at a time per object; it keeps the steps it found.
#ifndef MESHWRIGHT_PLANNER_LAYOUT_ONE_STEP_H_
#define MESHWRIGHT_PLANNER_LAYOUT_ONE_STEP_H_

#include <vector>

#include "planner/layout/tiling.h"

namespace meshwright::layout {

struct PackedStep {
  absl::uint128 key = 0;  // of the spec it makes
  int64_t time = 0;       // picoseconds
  Op op = Op::kSlice;
  uint8_t axis = 0;
  uint8_t dim = 0;
  uint8_t to_dim = 0;
  AxisSet crossed = 0;  // by a permute
};

// Picoseconds of a step that is not a slice; a permute takes all of `axes`,
// other steps one. `bytes` held per device.
int64_t ComputeStepTime(const LayoutProblem& problem, const Tiling& tiling,
                        Op op, AxisSet axes, int64_t bytes);

// The path that `steps` make of the source.
Path MakePath(const LayoutProblem& problem, const Tiling& tiling,
              const std::vector<PackedStep>& steps);

class OneStep {
 public:
  // Both must outlive it.
  OneStep(const LayoutProblem& problem, const Tiling& tiling)
      : problem_(problem), tiling_(tiling) {}

  // Always in the same order; valid until the next call.
  const std::vector<PackedStep>& From(const PackedSpec& spec);
  // Without permutes.
  const std::vector<PackedStep>& ListMovesFrom(const PackedSpec& spec);

 private:
  void AddMoves(const PackedSpec& spec, int64_t bytes);
  // Fills dimensions dim.. of made_ with every order of free axes that gives
  // tiles of the size they have in `spec`; `stride` elements so far in `dim`.
  void AddPermutes(const PackedSpec& spec, int dim, int64_t stride,
                   AxisSet crossed);
  void AddPermute(const PackedSpec& spec, AxisSet crossed);

  const LayoutProblem& problem_;
  const Tiling& tiling_;
  std::vector<PackedStep> steps_;
  // The state of AddPermutes.
  PackedSpec made_;
  absl::uint128 from_ = 0;
  Roles roles_;
  int64_t bytes_ = 0;
};

}  // namespace meshwright::layout

#endif  // MESHWRIGHT_PLANNER_LAYOUT_ONE_STEP_H_
