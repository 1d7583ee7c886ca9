// PartitionProblem: a line of measured segments, to be cut into pipeline stages
// that run on sub-meshes of one cluster.
//
//   segments   0   1   2 | 3   4 | 5   6   7
//   stages      1x4          1x2     1x2        of 8 devices
//
// Concept: a stage is a run of neighbouring segments on one mesh. Its cost is
// the sum of its segments' times and bytes on that mesh, or whatever
// `stage_costs` says. A run planned as a whole costs less than segments planned
// one by one, and a plan that has to hold more activations takes longer. The
// meshes of all stages together have at most `devices` devices. Where two
// stages meet, the tensors of that boundary travel.
// Units: picoseconds per micro-batch; bytes per device of the mesh.
// Errors: Validate gives kInvalidArgument in one sentence that names the field,
// as written in the JSON format. Causes: a list that is empty, too long or of
// the wrong length; a figure out of its range; a segment that no mesh can run;
// times or bytes whose sum overflows.
#ifndef MESHWRIGHT_PLANNER_PIPELINE_PARTITION_PROBLEM_H_
#define MESHWRIGHT_PLANNER_PIPELINE_PARTITION_PROBLEM_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "planner/pipeline/pipeline_problem.h"

namespace meshwright::pipeline {

struct MeshShape {
  std::string name;  // for people; may be empty
  int64_t devices = 1;
};

struct StageOnMesh {
  int first = 0;  // segment
  int end = 0;    // one past the last
  int mesh = 0;

  bool operator==(const StageOnMesh&) const = default;
};

using Partition = std::vector<StageOnMesh>;

// A run of segments as one stage that holds the activations of `held`
// micro-batches at once; none: it cannot be one. Asked several times, it says
// the same.
using StageCosts =
    std::function<std::optional<Stage>(const StageOnMesh& stage, int held)>;

struct PartitionProblem {
  std::vector<MeshShape> meshes;
  // [segment][mesh]; none: the segment cannot run there.
  std::vector<std::vector<std::optional<Stage>>> segments;
  // In place of sums; `segments` is empty then.
  StageCosts stage_costs;
  // [i]: between segments i and i + 1; "boundaries" in the JSON format.
  std::vector<Transfer> boundaries;
  int64_t devices = 1;
  int micro_batches = 1;
  bool overlap = true;
  std::optional<int64_t> memory_limit_bytes;  // of every device

  int Segments() const {
    return static_cast<int>(stage_costs ? boundaries.size() + 1
                                        : segments.size());
  }
};

inline constexpr int kMaxSegments = 1024;
inline constexpr int kMaxMeshes = 64;
inline constexpr int64_t kMaxPartitionDevices = int64_t{1} << 20;

// Everything run one after the other ends within problem::kMaxTime; where
// `stage_costs` says what a stage costs, PartitionStages checks that.
absl::Status Validate(const PartitionProblem& problem);

// The number of micro-batches that a stage must have room for, if `from_here` -
// 1 stages follow it. 1 where there is no memory limit.
int CountHeld(const PartitionProblem& problem, Schedule schedule,
              int from_here);

// A stage of a valid problem; none: it cannot run there.
std::optional<Stage> FindCost(const PartitionProblem& problem,
                              const StageOnMesh& stage, int held);

// The stages of a partition of a valid problem, all of which can run.
PipelineProblem MakeStages(const PartitionProblem& problem,
                           const Partition& partition, Schedule schedule);

}  // namespace meshwright::pipeline

#endif  // MESHWRIGHT_PLANNER_PIPELINE_PARTITION_PROBLEM_H_
