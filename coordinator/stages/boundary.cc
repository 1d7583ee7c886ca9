#include "coordinator/stages/boundary.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/sharding.h"
#include "base/status_macros.h"
#include "planner/reshard/decompose/decompose.h"

namespace meshwright::stages {
namespace {

using space::Sharding;

const ir::Shape& GetShape(const segmenter::Analysis& analysis,
                          ir::ValueId value) {
  return analysis.module.at(value).shape;
}

const space::Mesh& GetMesh(const StageSide& side) {
  return side.step->space.context.mesh;
}

// How the tensor lies where `segment` makes or reads it; where that is no
// segment of the stage, along its first dimension.
Sharding FindShardingAt(const StageSide& side, segmenter::SegmentIndex segment,
                        ir::ValueId value, bool leaves) {
  const segmenter::Analysis& analysis = side.step->analysis;
  const ir::Shape& shape = GetShape(analysis, value);
  const space::Mesh& mesh = GetMesh(side);
  if (segment < side.first || segment >= side.end) {
    return space::Legalize(
        Sharding(mesh.size(), shape.rank() > 0 ? 0 : base::kCopies), shape.dims,
        mesh);
  }
  const int configuration = (*side.choice)[segment - side.first];
  return FindTensorSharding(*side.step, segment, configuration, value, leaves)
      .value_or(Sharding(mesh.size(), base::kCopies));
}

// Adds the tasks of one tensor; hosts are matched by name.
void Join(int tensor, const reshard::Units& units,
          reshard::ReshardProblem& problem) {
  std::vector<int> place;
  for (const std::string& name : units.hosts) {
    const auto found = std::find_if(
        problem.hosts.begin(), problem.hosts.end(),
        [&](const reshard::Host& host) { return host.name == name; });
    place.push_back(static_cast<int>(found - problem.hosts.begin()));
    if (found == problem.hosts.end()) problem.hosts.push_back({.name = name});
  }
  const auto placed = [&](const std::vector<int>& hosts) {
    std::vector<int> out;
    for (const int host : hosts) out.push_back(place[host]);
    std::sort(out.begin(), out.end());
    return out;
  };
  for (size_t u = 0; u < units.units.size(); ++u) {
    const reshard::Unit& unit = units.units[u];
    problem.tasks.push_back({absl::StrCat(tensor, ".", u), unit.size_bytes,
                             placed(unit.senders), placed(unit.receivers)});
  }
}

}  // namespace

std::optional<Sharding> FindTensorSharding(const planning::MeasuredStep& step,
                                           segmenter::SegmentIndex segment,
                                           int configuration, ir::ValueId value,
                                           bool leaves) {
  const segmenter::Analysis& analysis = step.analysis;
  const auto& values = analysis.graphs[segment].values;
  const auto found =
      std::find_if(values.begin(), values.end(),
                   [&](const auto& it) { return it.origin == value; });
  if (found == values.end()) return std::nullopt;
  const auto index = static_cast<int>(found - values.begin());
  const ir::Shape& shape = GetShape(analysis, value);
  const space::Mesh& mesh = step.space.context.mesh;
  const auto& annotation = step.space.types[analysis.type_of_segment[segment]]
                               .configurations[configuration]
                               .annotation;
  return leaves ? annotation.GetLeaving(index, shape, mesh)
                : annotation.GetSharding(index, shape, mesh);
}

pipeline::Picoseconds TransferPlan::Time() const {
  return pipeline::Picoseconds(
      answer.has_value() ? std::llround(answer->makespan_seconds * 1e12) : 0);
}

pipeline::Transfer BoundaryPlanner::Bound(const segmenter::Analysis& analysis,
                                          int cut) const {
  const double fastest = std::max(bandwidths_.host, bandwidths_.device);
  pipeline::Transfer bound;
  if (fastest <= 0) return bound;
  for (const Crossing& it : cuts_[cut].crossings) {
    const pipeline::Picoseconds time(std::llround(
        static_cast<double>(GetShape(analysis, it.value).byte_size()) /
        fastest * 1e12));
    (it.backward ? bound.backward : bound.forward) += time;
  }
  return bound;
}

bool BoundaryPlanner::WithinHost(const StageSide& before,
                                 const StageSide& behind) const {
  return before.devices->front() / cluster_.columns ==
         behind.devices->front() / cluster_.columns;
}

std::vector<std::string> BoundaryPlanner::NameHosts(const StageSide& side,
                                                    bool within_host) const {
  std::vector<std::string> hosts;
  for (const int64_t device : *side.devices) {
    hosts.push_back(within_host
                        ? absl::StrCat("device ", device)
                        : absl::StrCat("host ", device / cluster_.columns));
  }
  return hosts;
}

absl::StatusOr<BoundaryPlan> BoundaryPlanner::Plan(const StageSide& before,
                                                   const StageSide& behind) {
  BoundaryPlan plan;
  plan.within_host = WithinHost(before, behind);
  for (const Crossing& it : cuts_[before.end - 1].crossings) {
    const StageSide& sender = it.backward ? behind : before;
    const StageSide& receiver = it.backward ? before : behind;
    plan.crossings.push_back(
        {it, GetShape(before.step->analysis, it.value).byte_size(),
         FindShardingAt(sender, it.from, it.value, /*leaves=*/true),
         FindShardingAt(receiver, it.to, it.value, /*leaves=*/false)});
  }
  ASSIGN_OR_RETURN(plan.forward, Solve(plan, before, behind, false));
  ASSIGN_OR_RETURN(plan.backward, Solve(plan, behind, before, true));
  return plan;
}

absl::StatusOr<TransferPlan> BoundaryPlanner::Solve(const BoundaryPlan& plan,
                                                    const StageSide& sender,
                                                    const StageSide& receiver,
                                                    bool backward) {
  TransferPlan made;
  made.problem.bandwidth_bytes_per_s =
      plan.within_host ? bandwidths_.device : bandwidths_.host;
  const segmenter::Analysis& analysis = sender.step->analysis;
  std::string key = absl::StrCat(
      backward, " ", std::max(sender.first, receiver.first).value(), " ",
      absl::StrJoin(*sender.devices, ","), " ",
      absl::StrJoin(*receiver.devices, ","), " ", NameMesh(GetMesh(sender)),
      " ", NameMesh(GetMesh(receiver)));
  for (size_t t = 0; t < plan.crossings.size(); ++t) {
    const CrossingPlan& it = plan.crossings[t];
    if (it.crossing.backward != backward || it.bytes == 0) continue;
    made.bytes += it.bytes;
    absl::StrAppend(&key, " ", t, ":", absl::StrJoin(it.source, ","), ">",
                    absl::StrJoin(it.target, ","));
  }
  if (made.bytes == 0) return made;
  const auto known = solved_.find(key);
  if (known != solved_.end()) return known->second;
  for (size_t t = 0; t < plan.crossings.size(); ++t) {
    const CrossingPlan& it = plan.crossings[t];
    if (it.crossing.backward != backward || it.bytes == 0) continue;
    const ir::Shape& shape = GetShape(analysis, it.crossing.value);
    reshard::Resharding tensor;
    tensor.shape = shape.dims;
    tensor.elem_bytes = ir::CountElementBytes(shape.element_type);
    tensor.source = {GetMesh(sender), base::ToSpec(it.source, shape.rank()),
                     NameHosts(sender, plan.within_host)};
    tensor.target = {GetMesh(receiver), base::ToSpec(it.target, shape.rank()),
                     NameHosts(receiver, plan.within_host)};
    ASSIGN_OR_RETURN(const reshard::Units units, reshard::Decompose(tensor));
    Join(static_cast<int>(t), units, made.problem);
  }
  ASSIGN_OR_RETURN(made.answer, reshard::Solve(made.problem));
  solved_.emplace(key, made);
  return made;
}

}  // namespace meshwright::stages
