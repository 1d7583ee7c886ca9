// ScheduleStages: the schedule under which chosen stages make the shortest
// step.
//
// Concept: every schedule that the request allows is simulated. A step ends
// when the last stage has updated, plus what shared parameters take. Once per
// step their gradients meet and the new values come back, an all-reduce over
// the slower kind of port. Ties go to the smaller maximum peak, then to the
// earlier schedule of pipeline::kSchedules. Units: picoseconds of a step.
// Errors: those of pipeline::Choose.
#ifndef MESHWRIGHT_COORDINATOR_STAGES_SCHEDULE_PARTITION_H_
#define MESHWRIGHT_COORDINATOR_STAGES_SCHEDULE_PARTITION_H_

#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/stages/boundary.h"
#include "coordinator/stages/measured_meshes.h"
#include "coordinator/stages/stage_work.h"
#include "planner/pipeline/choose.h"

namespace meshwright::stages {

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

// Fills what follows from `made`'s stages and transfers. False: no schedule
// fits its memory.
absl::StatusOr<bool> ScheduleStages(const MeasuredMeshes& step,
                                    ChosenPartition& made);

}  // namespace meshwright::stages

#endif  // MESHWRIGHT_COORDINATOR_STAGES_SCHEDULE_PARTITION_H_
