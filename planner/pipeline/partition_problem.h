// PartitionProblem: a line of measured segments, to be cut into pipeline stages
// that run on sub-meshes of one cluster.
//
//   segments   0   1   2 | 3   4 | 5   6   7
//   stages      1x4          1x2     1x2        of 8 devices
//
// Concept: a stage is a run of neighbouring segments on one mesh; its times and
// bytes are the sums of its segments' on that mesh. The meshes of all stages
// together have at most `devices` devices. Where two stages meet, the tensors
// of that border travel.
// Units: picoseconds per micro-batch; bytes per device of the mesh.
#ifndef MESHWRIGHT_PLANNER_PIPELINE_PARTITION_PROBLEM_H_
#define MESHWRIGHT_PLANNER_PIPELINE_PARTITION_PROBLEM_H_

#include <cstdint>
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

struct PartitionProblem {
  std::vector<MeshShape> meshes;
  // [segment][mesh]; none: the segment cannot run there.
  std::vector<std::vector<std::optional<Stage>>> segments;
  std::vector<Transfer> borders;  // [i]: between segments i and i + 1
  int64_t devices = 1;
  int micro_batches = 1;
  bool overlap = true;
  std::optional<int64_t> memory_limit_bytes;  // of every device

  int Segments() const { return static_cast<int>(segments.size()); }
};

inline constexpr int kMostSegments = 1024;
inline constexpr int kMostMeshes = 64;
inline constexpr int64_t kMostPartitionDevices = int64_t{1} << 20;

// kInvalidArgument in one sentence that names the field, as written in the JSON
// format. Everything run one after the other ends within problem::kLongestTime.
absl::Status Validate(const PartitionProblem& problem);

struct StageOnMesh {
  int first = 0;  // segment
  int end = 0;    // one past the last
  int mesh = 0;

  bool operator==(const StageOnMesh&) const = default;
};

using Partition = std::vector<StageOnMesh>;

// The stages of a partition of a valid problem.
PipelineProblem StagesOf(const PartitionProblem& problem,
                         const Partition& partition);

}  // namespace meshwright::pipeline

#endif  // MESHWRIGHT_PLANNER_PIPELINE_PARTITION_PROBLEM_H_
