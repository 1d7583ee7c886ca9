#include "planner/layout/one_step.h"

#include <bit>
#include <cmath>

namespace meshwright::layout {
namespace {

AxisSet Only(int axis) { return AxisSet{1} << axis; }

std::vector<int> Members(AxisSet axes) {
  std::vector<int> members;
  for (int axis = 0; axes >> axis != 0; ++axis) {
    if ((axes >> axis & 1) != 0) members.push_back(axis);
  }
  return members;
}

// Describes a step from the specs around it.
Step MakeStep(const Tiling& tiling, const PackedStep& packed,
              const PackedSpec& before, const PackedSpec& after) {
  Step step;
  step.op = packed.op;
  step.bytes = tiling.Bytes(before);
  step.time = Picoseconds(packed.time);
  step.axis = packed.axis;
  step.dim = packed.dim;
  if (packed.op == Op::kAllToAll) step.to_dim = packed.to_dim;
  if (packed.op != Op::kCollectivePermute) return step;
  step.axes = Members(packed.crossed);
  for (int d = 0; d < tiling.dims(); ++d) {
    if (before.order[d] != after.order[d]) step.dims.push_back(d);
  }
  step.dim = step.dims.front();
  step.axis =
      !step.axes.empty()
          ? step.axes.front()
          : Members(before.axes[step.dim] | after.axes[step.dim]).front();
  return step;
}

}  // namespace

int64_t ComputeStepTime(const LayoutProblem& problem, const Tiling& tiling,
                        Op op, AxisSet axes, int64_t bytes) {
  const int64_t devices = tiling.Parts(axes);
  if (devices == 1) return 0;
  return std::llrint(problem.links->Seconds(op, axes, devices, bytes) * 1e12);
}

const std::vector<PackedStep>& OneStep::ListMovesFrom(const PackedSpec& spec) {
  steps_.clear();
  AddMoves(spec, tiling_.Bytes(spec));
  return steps_;
}

const std::vector<PackedStep>& OneStep::From(const PackedSpec& spec) {
  steps_.clear();
  bytes_ = tiling_.Bytes(spec);
  AddMoves(spec, bytes_);
  roles_ = tiling_.FindRoles(spec);
  from_ = tiling_.Key(spec);
  made_ = PackedSpec();
  if (tiling_.dims() > 0) {
    AddPermutes(spec, 0, tiling_.Tile(0, spec.axes[0]), 0);
  }
  return steps_;
}

void OneStep::AddMoves(const PackedSpec& spec, int64_t bytes) {
  const int dims = tiling_.dims();
  for (int d = 0; d < dims; ++d) {
    if (spec.order[d] == 0) continue;
    const int axis = LastAxis(spec.order[d]);
    if (!tiling_.Aligns(d, spec.axes[d], axis)) continue;
    PackedStep step;
    step.axis = static_cast<uint8_t>(axis);
    step.dim = static_cast<uint8_t>(d);
    PackedSpec gathered = spec;
    gathered.RemoveLast(d);
    step.op = Op::kAllGather;
    step.key = tiling_.Key(gathered);
    step.time = ComputeStepTime(problem_, tiling_, step.op, Only(axis), bytes);
    steps_.push_back(step);
    step.op = Op::kAllToAll;
    step.time = ComputeStepTime(problem_, tiling_, step.op, Only(axis), bytes);
    for (int to = 0; to < dims; ++to) {
      if (to == d || !tiling_.Aligns(to, spec.axes[to] | Only(axis), axis)) {
        continue;
      }
      PackedSpec moved = gathered;
      moved.Append(to, axis);
      step.to_dim = static_cast<uint8_t>(to);
      step.key = tiling_.Key(moved);
      steps_.push_back(step);
    }
  }
  for (int axis = 0; axis < tiling_.axes(); ++axis) {
    if ((spec.used & Only(axis)) != 0) continue;
    for (int d = 0; d < dims; ++d) {
      if (!tiling_.Aligns(d, spec.axes[d] | Only(axis), axis)) continue;
      PackedSpec sliced = spec;
      sliced.Append(d, axis);
      PackedStep step;
      step.axis = static_cast<uint8_t>(axis);
      step.dim = static_cast<uint8_t>(d);
      step.key = tiling_.Key(sliced);
      steps_.push_back(step);
    }
  }
}

// The axes of a dimension are taken minor to major, so that each one's stride
// is known when it is taken.
void OneStep::AddPermutes(const PackedSpec& spec, int dim, int64_t stride,
                          AxisSet crossed) {
  const int64_t tile = tiling_.Tile(dim, spec.axes[dim]);
  if (tiling_.Tile(dim, made_.axes[dim]) == tile) {
    if (dim + 1 == tiling_.dims()) {
      AddPermute(spec, crossed);
    } else {
      AddPermutes(spec, dim + 1, tiling_.Tile(dim + 1, spec.axes[dim + 1]),
                  crossed);
    }
  }
  for (int axis = 0; axis < tiling_.axes(); ++axis) {
    const AxisSet only = Only(axis);
    if ((made_.used & only) != 0) continue;
    // Further axes only make tiles smaller.
    if (tiling_.Tile(dim, made_.axes[dim] | only) < tile) continue;
    const int64_t size = tiling_.AxisSize(axis);
    const Role role = size > 1 ? tiling_.FindRole(dim, stride) : Role();
    const AxisOrder before = made_.order[dim];
    const int digits = std::popcount(made_.axes[dim]);
    made_.order[dim] |= static_cast<AxisOrder>(axis + 1) << (4 * digits);
    made_.axes[dim] |= only;
    made_.used |= only;
    AddPermutes(spec, dim, stride * size,
                role == roles_[axis] ? crossed : crossed | only);
    made_.order[dim] = before;
    made_.axes[dim] &= ~only;
    made_.used &= ~only;
  }
}

void OneStep::AddPermute(const PackedSpec& spec, AxisSet crossed) {
  if (tiling_.Parts(made_.used) != tiling_.Parts(spec.used)) return;
  PackedStep step;
  step.key = tiling_.Key(made_);
  if (step.key == from_) return;
  for (AxisSet rest = spec.used & ~made_.used; rest != 0; rest &= rest - 1) {
    const int axis = std::countr_zero(rest);
    if (tiling_.AxisSize(axis) > 1) crossed |= Only(axis);
  }
  step.op = Op::kCollectivePermute;
  step.crossed = crossed;
  step.time = ComputeStepTime(problem_, tiling_, step.op, crossed, bytes_);
  steps_.push_back(step);
}

Path MakePath(const LayoutProblem& problem, const Tiling& tiling,
              const std::vector<PackedStep>& steps) {
  Path path;
  path.specs.push_back(problem.source);
  PackedSpec before = tiling.Pack(problem.source);
  for (const PackedStep& step : steps) {
    const PackedSpec after = tiling.FromKey(step.key);
    path.steps.push_back(MakeStep(tiling, step, before, after));
    path.specs.push_back(tiling.Unpack(after));
    path.time =
        Picoseconds(problem::SaturatingAdd(path.time.count(), step.time));
    before = after;
  }
  return path;
}

}  // namespace meshwright::layout
