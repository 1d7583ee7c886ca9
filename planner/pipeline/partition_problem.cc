#include "planner/pipeline/partition_problem.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "planner/pipeline/orders.h"
#include "planner/pipeline/validate.h"

namespace meshwright::pipeline {
namespace {

absl::Status ValidateMeshes(const PartitionProblem& problem) {
  if (problem.meshes.empty())
    return absl::InvalidArgumentError("meshes is empty; give at least one");
  if (problem.meshes.size() > kMaxMeshes) {
    return absl::InvalidArgumentError(
        absl::StrCat("meshes has ", problem.meshes.size(), " entries; at most ",
                     kMaxMeshes, " are tried, so leave some out"));
  }
  if (problem.devices < 1 || problem.devices > kMaxPartitionDevices) {
    return absl::InvalidArgumentError(absl::StrCat(
        "devices is ", problem.devices, "; give 1 to ", kMaxPartitionDevices));
  }
  bool any = false;
  for (size_t i = 0; i < problem.meshes.size(); ++i) {
    const int64_t devices = problem.meshes[i].devices;
    if (devices < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "meshes[", i, "].devices is ", devices, "; give a positive number"));
    }
    any = any || devices <= problem.devices;
  }
  if (!any) {
    return absl::InvalidArgumentError(
        absl::StrCat("every one of meshes has more than the ", problem.devices,
                     " devices there are; give a smaller mesh"));
  }
  return {};
}

absl::Status ValidateSegment(const PartitionProblem& problem, int segment) {
  const auto& costs = problem.segments[segment];
  const std::string field = absl::StrCat("segments[", segment, "].on");
  if (costs.size() != problem.meshes.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, " has ", costs.size(), " entries and meshes ",
                     problem.meshes.size(),
                     "; give one per mesh, null where it cannot run"));
  }
  bool any = false;
  for (size_t mesh = 0; mesh < costs.size(); ++mesh) {
    if (!costs[mesh].has_value()) continue;
    RETURN_IF_ERROR(
        ValidateStage(*costs[mesh], absl::StrCat(field, "[", mesh, "]")));
    any = any || problem.meshes[mesh].devices <= problem.devices;
  }
  if (!any) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, " has no costs on a mesh of at most ",
                     problem.devices, " devices; measure the segment on one"));
  }
  return {};
}

// With every segment on its slowest and on its largest mesh.
absl::Status ValidateSums(const PartitionProblem& problem) {
  int64_t time = 0;
  int64_t bytes = 0;
  for (const Transfer& boundary : problem.boundaries) {
    time = problem::SaturatingAdd(time, boundary.forward.count());
    time = problem::SaturatingAdd(time, boundary.backward.count());
  }
  for (const auto& costs : problem.segments) {
    int64_t slowest = 0;
    int64_t largest = 0;
    for (const auto& cost : costs) {
      if (!cost.has_value()) continue;
      slowest = std::max(
          slowest, problem::SaturatingAdd(cost->forward.count(),
                                          FindMaxBackward(*cost).count()));
      largest = std::max(
          largest,
          problem::SaturatingAdd(
              cost->persistent_bytes,
              problem::SaturatingMultiply(
                  std::max(cost->activation_bytes, cost->ComputeDelayedBytes()),
                  problem.micro_batches)));
    }
    time = problem::SaturatingAdd(time, slowest);
    bytes = problem::SaturatingAdd(bytes, largest);
  }
  if (problem::SaturatingMultiply(time, problem.micro_batches) >
      problem::kMaxTime.count()) {
    return absl::InvalidArgumentError(
        "micro_batches times all segments and boundaries is more than the "
        "planner can add up; give shorter times");
  }
  if (bytes > kMaxBytes) {
    return absl::InvalidArgumentError(
        "the bytes of all segments are more than can be added up");
  }
  return {};
}

}  // namespace

absl::Status Validate(const PartitionProblem& problem) {
  const auto segments = static_cast<size_t>(problem.Segments());
  if (segments == 0)
    return absl::InvalidArgumentError("segments is empty; give at least one");
  if (problem.stage_costs && !problem.segments.empty()) {
    return absl::InvalidArgumentError(
        "segments and stage costs are both given; give one of them");
  }
  if (segments > kMaxSegments) {
    return absl::InvalidArgumentError(
        absl::StrCat("segments has ", segments, " entries; at most ",
                     kMaxSegments, " are cut into stages, so join neighbours"));
  }
  RETURN_IF_ERROR(ValidateMeshes(problem));
  if (problem.boundaries.size() != segments - 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "boundaries has ", problem.boundaries.size(), " entries; ", segments,
        " segments have ", segments - 1, " between them"));
  }
  RETURN_IF_ERROR(ValidateMicroBatches(problem.micro_batches));
  if (static_cast<int64_t>(segments) * problem.micro_batches > kMaxForwards) {
    return absl::InvalidArgumentError(absl::StrCat(
        "micro_batches is ", problem.micro_batches, "; with ", segments,
        " segments at most ", kMaxForwards / static_cast<int64_t>(segments),
        " are simulated"));
  }
  for (size_t i = 0; i < problem.segments.size(); ++i) {
    RETURN_IF_ERROR(ValidateSegment(problem, static_cast<int>(i)));
  }
  for (size_t i = 0; i < problem.boundaries.size(); ++i) {
    if (std::min(problem.boundaries[i].forward, problem.boundaries[i].backward)
            .count() < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("boundaries[", i, "] has a negative time"));
    }
  }
  if (problem.memory_limit_bytes.value_or(1) <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("memory_limit_bytes is ", *problem.memory_limit_bytes,
                     "; give a positive number of bytes, or leave it "
                     "out"));
  }
  return ValidateSums(problem);
}

int CountHeld(const PartitionProblem& problem, Schedule schedule,
              int from_here) {
  if (!problem.memory_limit_bytes.has_value()) return 1;
  return WarmUpForwards(schedule, from_here, problem.micro_batches);
}

std::optional<Stage> FindCost(const PartitionProblem& problem,
                              const StageOnMesh& stage, int held) {
  if (problem.stage_costs) return problem.stage_costs(stage, held);
  Stage sum;
  Picoseconds backward{0};
  int64_t delayed = 0;
  for (int i = stage.first; i < stage.end; ++i) {
    const std::optional<Stage>& segment = problem.segments[i][stage.mesh];
    if (!segment.has_value()) return std::nullopt;
    sum.forward += segment->forward;
    sum.backward_input += segment->backward_input;
    sum.backward_weight += segment->backward_weight;
    backward += segment->Backward();
    sum.activation_bytes += segment->activation_bytes;
    sum.persistent_bytes += segment->persistent_bytes;
    delayed += segment->ComputeDelayedBytes();
  }
  sum.backward = backward;
  sum.delayed_bytes = delayed;
  return sum;
}

PipelineProblem MakeStages(const PartitionProblem& problem,
                           const Partition& partition, Schedule schedule) {
  PipelineProblem made;
  made.micro_batches = problem.micro_batches;
  made.overlap = problem.overlap;
  int from_here = static_cast<int>(partition.size());
  for (const StageOnMesh& part : partition) {
    const int held = CountHeld(problem, schedule, from_here--);
    made.stages.push_back(*FindCost(problem, part, held));
    if (part.end < problem.Segments()) {
      made.transfers.push_back(problem.boundaries[part.end - 1]);
    }
  }
  if (problem.memory_limit_bytes.has_value()) {
    made.memory_limit_bytes.assign(partition.size(),
                                   *problem.memory_limit_bytes);
  }
  return made;
}

}  // namespace meshwright::pipeline
