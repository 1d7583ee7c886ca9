#include "planner/layout/bound.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>

#include "planner/layout/one_step.h"
#include "planner/problem/duration.h"

namespace meshwright::layout {
namespace {

// A sketch is a number with one digit to the base of three per axis.
enum State { kCopies, kRight, kWrong };
constexpr int kStates = 3;

constexpr int64_t kUnreached = std::numeric_limits<int64_t>::max();

int MakeSketch(const Tiling& tiling, const Roles& roles, const Roles& target) {
  int sketch = 0;
  for (int axis = tiling.axes() - 1; axis >= 0; --axis) {
    const State state = roles[axis].dim == Role::kCopies ? kCopies
                        : roles[axis] == target[axis]    ? kRight
                                                         : kWrong;
    sketch = sketch * kStates + state;
  }
  return sketch;
}

class Sketches {
 public:
  Sketches(const LayoutProblem& problem, const Tiling& tiling)
      : tiling_(tiling), axes_(tiling.axes()) {
    int64_t bytes = tiling.elem_bytes();
    for (int d = 0; d < tiling.dims(); ++d) bytes *= tiling.DimSize(d);
    const AxisSet sets = AxisSet{1} << axes_;
    for (int axis = 0; axis < axes_; ++axis) {
      for (AxisSet used = 0; used < sets; ++used) {
        const int64_t min_bytes =
            std::max(tiling.elem_bytes(), (bytes - 1) / tiling.Parts(used) + 1);
        const auto time = [&](Op op) {
          return ComputeStepTime(problem, tiling, op, AxisSet{1} << axis,
                                 min_bytes);
        };
        gather_[axis].push_back(time(Op::kAllGather));
        exchange_[axis].push_back(time(Op::kAllToAll));
        permute_[axis].push_back(time(Op::kCollectivePermute));
      }
    }
    for (int axis = 0, power = 1; axis <= axes_; ++axis, power *= kStates) {
      powers_[axis] = power;
    }
    for (int sketch = 0; sketch < powers_[axes_]; ++sketch) {
      AxisSet used = 0;
      AxisSet wrong = 0;
      for (int axis = 0; axis < axes_; ++axis) {
        if (At(sketch, axis) != kCopies) used |= AxisSet{1} << axis;
        if (At(sketch, axis) == kWrong) wrong |= AxisSet{1} << axis;
      }
      used_.push_back(used);
      wrong_.push_back(wrong);
    }
  }

  // Picoseconds from every sketch to `target`: Dijkstra against the steps.
  std::vector<int64_t> LeftTo(int target, const base::Deadline& deadline) {
    left_.assign(used_.size(), kUnreached);
    std::vector<bool> done(used_.size(), false);
    left_[target] = 0;
    while (true) {
      std::optional<int> at;
      for (int sketch = 0; sketch < powers_[axes_]; ++sketch) {
        if (!done[sketch] && left_[sketch] != kUnreached &&
            (!at.has_value() || left_[sketch] < left_[*at])) {
          at = sketch;
        }
      }
      if (!at.has_value()) return left_;
      if (deadline.HasPassed()) return std::vector<int64_t>(used_.size(), 0);
      done[*at] = true;
      for (int axis = 0; axis < axes_; ++axis) RelaxAxis(*at, axis);
      RelaxPermutes(*at);
    }
  }

 private:
  State At(int sketch, int axis) const {
    return static_cast<State>(sketch / powers_[axis] % kStates);
  }

  void Relax(int before, int after, int64_t time) {
    left_[before] =
        std::min(left_[before], problem::SaturatingAdd(left_[after], time));
  }

  void RelaxAxis(int after, int axis) {
    for (const State state : {kCopies, kRight, kWrong}) {
      const State now = At(after, axis);
      if (state == now) continue;
      const int before = after + (state - now) * powers_[axis];
      const AxisSet used = used_[before];
      Relax(before, after,
            state == kCopies ? 0
            : now == kCopies ? gather_[axis][used]
                             : exchange_[axis][used]);
    }
  }

  void RelaxPermutes(int after) {
    const AxisSet used = used_[after];
    for (int before = 0; before < powers_[axes_]; ++before) {
      if (before == after ||
          tiling_.Parts(used_[before]) != tiling_.Parts(used)) {
        continue;
      }
      AxisSet changed =
          (used_[before] ^ used) | (wrong_[before] ^ wrong_[after]);
      int64_t time = 0;
      for (; changed != 0; changed &= changed - 1) {
        time = std::max(time, permute_[std::countr_zero(changed)][used]);
      }
      Relax(before, after, time);
    }
  }

  const Tiling& tiling_;
  const int axes_;
  // By axis and set of axes that split, with the least bytes that leaves.
  std::array<std::vector<int64_t>, kMaxAxes> gather_;
  std::array<std::vector<int64_t>, kMaxAxes> exchange_;
  std::array<std::vector<int64_t>, kMaxAxes> permute_;
  std::array<int, kMaxAxes + 1> powers_{};
  std::vector<AxisSet> used_;  // by sketch
  std::vector<AxisSet> wrong_;
  std::vector<int64_t> left_;
};

}  // namespace

Bound::Bound(const LayoutProblem& problem, const Tiling& tiling,
             const PackedSpec& target, const base::Deadline& deadline)
    : tiling_(tiling), target_(tiling.FindRoles(target)) {
  left_ = Sketches(problem, tiling)
              .LeftTo(MakeSketch(tiling, target_, target_), deadline);
}

int64_t Bound::From(const PackedSpec& spec) const {
  return left_[MakeSketch(tiling_, tiling_.FindRoles(spec), target_)];
}

}  // namespace meshwright::layout
