// SearchPartition: where to cut the step, on which meshes, under which
// schedule.
//
//   costs of runs ─▶ partition ─▶ stages ─▶ splits measured, tensors' transfers
//        ▲                                  scheduled ─▶ simulated
//        └──────────── what that showed ◀──────┘        the best is kept
//
// Concept: the partition (planner/pipeline) is exact over what stages and
// borders cost; but how a segment's time splits, and how long the tensors of a
// border take between two meshes, is known only for stages that were chosen
// once. So it starts from guesses (pass_time_split.h) and bounds (boundary.h),
// measures and schedules what was chosen, and cuts again, until nothing new
// comes. Of all cuts met the one whose simulated step is the shortest is the
// answer.
//
// A step is simulated as schedules have it, each stage's update behind its last
// backward, and then what shared parameters take. In the partition a stage's
// update counts to every micro-batch by its part, so that all of a stage's
// work is in its time.
// Errors: those of the store, the measurer and the planners.
#ifndef MESHWRIGHT_COORDINATOR_STAGES_PARTITION_SEARCH_H_
#define MESHWRIGHT_COORDINATOR_STAGES_PARTITION_SEARCH_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/stages/measured_meshes.h"
#include "planner/pipeline/choose.h"
#include "planner/pipeline/partition_problem.h"

namespace meshwright::stages {

// The work of one stage.
struct StageWork {
  pipeline::Stage stage;  // of one micro-batch
  pipeline::Picoseconds update{0};
  bool estimated = false;  // how the time splits
};

StageWork ComputeStageWork(const MeasuredMeshes& step, int mesh,
                           const RunPlan& run);

struct ChosenStage {
  pipeline::StageOnMesh place;
  RunPlan run;
  StageWork work;
  std::vector<int64_t> devices;
};

struct ScheduleTried {
  pipeline::Figures figures;
  pipeline::Picoseconds step{0};  // with updates and shared parameters
};

struct ChosenPartition {
  std::vector<ChosenStage> stages;
  std::vector<BoundaryPlan> boundaries;
  pipeline::PipelineProblem problem;
  ScheduleTried chosen;
  pipeline::Timeline timeline;
  pipeline::Picoseconds lower_bound{0};  // of any schedule of these stages
  pipeline::Picoseconds shared{0};
  std::vector<ScheduleTried> tried;
};

struct PartitionSearchAnswer {
  std::optional<ChosenPartition> chosen;  // empty: nothing fits
  std::optional<int64_t> min_bytes;       // then
  int rounds = 0;
};

// `counts` are those of the programs measured on the way.
absl::StatusOr<PartitionSearchAnswer> SearchPartition(
    const v1::PlanRequest& request, MeasuredMeshes& step,
    const planning::PlanDependencies& dependencies,
    const planning::PlanProgressFunction& progress, v1::PlanPrograms& counts);

}  // namespace meshwright::stages

#endif  // MESHWRIGHT_COORDINATOR_STAGES_PARTITION_SEARCH_H_
