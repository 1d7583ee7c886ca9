// PartitionWithinMemory: the step cut into stages, with recomputation where
// memory is short, and noisy rows of the chosen stages measured again.
//
// Concept: as planning::WidenForMemory does for one mesh. A limit that leaves
// no stages, or stages whose step is longer than without it, opens
// recomputation for a second search. A request that opens switches of its own
// has no second one. The better of both is the answer. Errors: those of
// MeasureMeshes and SearchPartition.
#ifndef MESHWRIGHT_COORDINATOR_STAGES_PARTITION_WITHIN_MEMORY_H_
#define MESHWRIGHT_COORDINATOR_STAGES_PARTITION_WITHIN_MEMORY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "coordinator/stages/measured_meshes.h"
#include "coordinator/stages/partition_search.h"

namespace meshwright::stages {

struct PartitionedStep {
  v1::PlanRequest request;  // with what was opened for it
  std::unique_ptr<MeasuredMeshes> step;
  PartitionSearchAnswer cuts;
  v1::PlanPrograms programs;        // of both looks
  v1::PlanPrograms split_programs;  // that tell how times split, likewise
  v1::PlanSeconds seconds;
};

void AddPrograms(const v1::PlanPrograms& more, v1::PlanPrograms& sum);

// `request` is one of UseClusterMesh.
absl::StatusOr<PartitionedStep> PartitionWithinMemory(
    const v1::PlanRequest& request,
    const planning::PlanDependencies& dependencies,
    const jobs::ProgressFunction& progress);

}  // namespace meshwright::stages

#endif  // MESHWRIGHT_COORDINATOR_STAGES_PARTITION_WITHIN_MEMORY_H_
