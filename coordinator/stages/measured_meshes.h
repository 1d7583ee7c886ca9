// MeasuredMeshes: a step measured on every mesh that a stage may have.
//
// Concept: the step is analysed once, for the whole cluster. On the smaller
// meshes the same blocks and segments are split in the ways those meshes allow.
// So a segment is the same everywhere, and its programs are keyed by mesh and
// not by stage. The rows of a stage serve every other stage on such a mesh. A
// mesh on which the request's rules leave a block nothing, or on which nothing
// could be measured, is left out with a note. The cluster's must work.
// Errors: kInvalidArgument and kOutOfRange for a request that asks for what
// cannot be, or for a larger partition than is searched, before anything is
// measured; those of planning::MeasureStep.
#ifndef MESHWRIGHT_COORDINATOR_STAGES_MEASURED_MESHES_H_
#define MESHWRIGHT_COORDINATOR_STAGES_MEASURED_MESHES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/stages/boundary.h"
#include "coordinator/stages/cluster.h"
#include "coordinator/stages/crossings.h"
#include "coordinator/stages/pass_time_split.h"
#include "coordinator/stages/passes.h"
#include "coordinator/stages/stage_search.h"
#include "planner/pipeline/partition_problem.h"
#include "planner/pipeline/pipeline_problem.h"

namespace meshwright::stages {

// The fields of the request about stages, checked.
struct StageTerms {
  Cluster cluster;
  Bandwidths bandwidths;
  bool device_as_host = false;  // the device's was not said
  int micro_batches = 1;
  int own_micro_batches = 1;  // trips of the step's own loop over them
  std::optional<pipeline::Schedule> schedule;
  bool overlap = true;
  std::optional<int64_t> memory_limit_bytes;
  std::vector<std::string> notes;
};

absl::StatusOr<StageTerms> ParseStageTerms(const v1::PlanRequest& request,
                                           const segmenter::Analysis& analysis);

// The cluster as a mesh of two axes.
absl::StatusOr<v1::PlanRequest> UseClusterMesh(const v1::PlanRequest& request);

// The partition of the segments between so many cuts, all of whose stages and
// boundaries cost nothing yet: no stage can run.
pipeline::PartitionProblem OutlinePartition(
    const StageTerms& terms, const std::vector<space::Mesh>& meshes,
    size_t cuts);

struct MeasuredMesh {
  planning::MeasuredStep step;
  std::unique_ptr<StageSearch> search;
  std::unique_ptr<PassTimeSplit> splits;
};

struct MeasuredMeshes {
  StageTerms terms;
  StepPasses passes;
  std::vector<Cut> cuts;
  std::vector<SharedArgument> shared;
  std::vector<std::unique_ptr<MeasuredMesh>> meshes;  // the cluster last
  std::vector<std::string> notes;

  const segmenter::Analysis& analysis() const {
    return meshes.back()->step.analysis;
  }
  int Segments() const { return static_cast<int>(analysis().graphs.size()); }
};

// `request` is one of UseClusterMesh.
absl::StatusOr<std::unique_ptr<MeasuredMeshes>> MeasureMeshes(
    const v1::PlanRequest& request,
    const planning::PlanDependencies& dependencies,
    const jobs::ProgressFunction& progress);

// Searches runs by the rows that the meshes' steps have now.
absl::Status OpenSearches(MeasuredMeshes& step);

// Searches runs within another limit from now on; none: without one.
absl::Status SetLimit(MeasuredMeshes& step, std::optional<int64_t> limit);

// Searches runs by what passes take as far as that is known now.
void ApplyPassTimes(MeasuredMeshes& step);

}  // namespace meshwright::stages

#endif  // MESHWRIGHT_COORDINATOR_STAGES_MEASURED_MESHES_H_
