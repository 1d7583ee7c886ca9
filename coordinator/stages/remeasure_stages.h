// RemeasureStages: a pipeline does not stand on noisy rows where that can be
// helped.
//
// Concept: what planning/remeasure.h does for a plan of one mesh, for every
// stage on its own. The noisy rows of its segments and of the resharding
// between them are measured once more, and such rows of its rivals: the
// stages that would be chosen if all such rows were too slow by as much as was
// seen. These are searched for by the pass times that the store has. The
// searches then follow the new rows; other stages may be the fastest, and the
// caller searches again. Threads: one. Errors: those of SearchPartition, of
// measuring and of the problem.
#ifndef MESHWRIGHT_COORDINATOR_STAGES_REMEASURE_STAGES_H_
#define MESHWRIGHT_COORDINATOR_STAGES_REMEASURE_STAGES_H_

#include "absl/status/statusor.h"
#include "coordinator/planning/measuring.h"
#include "coordinator/stages/measured_meshes.h"
#include "coordinator/stages/schedule_partition.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::stages {

// Whether anything was measured. A request not to wait measures nothing.
absl::StatusOr<bool> RemeasureStages(
    const v1::PlanRequest& request, const ChosenPartition& chosen,
    const planning::PlanDependencies& dependencies,
    const jobs::ProgressFunction& progress, MeasuredMeshes& step);

// Quality, noise and times of the rows that the stages' predictions are sums
// of.
void AddRows(const ChosenPartition& chosen, const MeasuredMeshes& step,
             v1::Plan& plan);

}  // namespace meshwright::stages

#endif  // MESHWRIGHT_COORDINATOR_STAGES_REMEASURE_STAGES_H_
