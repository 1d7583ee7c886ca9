// SearchPartition: where to cut the step, on which meshes, under which
// schedule.
//
//   costs of runs ─▶ partition ─▶ stages ─▶ pass times measured, transfers
//        ▲                                  scheduled ─▶ simulated
//        └──────────── new costs ◀─────────────┘        the best is kept
//
// Concept: the partition (planner/pipeline) is exact over the costs of stages
// and boundaries. Two things are known only for stages that were chosen before.
// They are how a segment's time splits into passes, and how long the tensors of
// a boundary take between two meshes. So the search starts from estimates
// (pass_time_split.h) and bounds (boundary.h), measures and schedules the
// chosen stages, and partitions again, until it finds nothing new. The answer
// is the partition with the shortest simulated step (schedule_partition.h).
//
// In the partition a stage's update counts to every micro-batch by its share,
// so that all of a stage's work is in its time. Units: picoseconds; bytes per
// device. Errors: those of the store, the measurer and the planners; kCancelled
// once the plan is to stop.
#ifndef MESHWRIGHT_COORDINATOR_STAGES_PARTITION_SEARCH_H_
#define MESHWRIGHT_COORDINATOR_STAGES_PARTITION_SEARCH_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "coordinator/stages/measured_meshes.h"
#include "coordinator/stages/schedule_partition.h"

namespace meshwright::stages {

struct PartitionSearchAnswer {
  std::optional<ChosenPartition> chosen;  // empty: nothing fits
  std::optional<int64_t> min_bytes;       // then
  int rounds = 0;
};

// `counts` are those of the programs measured on the way.
absl::StatusOr<PartitionSearchAnswer> SearchPartition(
    const v1::PlanRequest& request, MeasuredMeshes& step,
    const planning::PlanDependencies& dependencies,
    const jobs::ProgressFunction& progress, v1::PlanPrograms& counts);

}  // namespace meshwright::stages

#endif  // MESHWRIGHT_COORDINATOR_STAGES_PARTITION_SEARCH_H_
