// Boundary: how the tensors of a cut get from one stage's mesh to the next.
//
// Concept: every tensor that crosses has a sharding on the sender's mesh and
// one on the receiver's, taken from the two stages' plans. A tensor that only
// passes through a stage is split there along its first dimension. All tensors
// of a direction are one resharding problem (planner/reshard): unit tasks
// between hosts. Between rows of the cluster a host is a row, with the
// network's port. Within a row every device is a host with a port of its own.
// Units: bytes of one micro-batch, bytes per second.
// Errors: those of reshard::Decompose and reshard::Solve.
// Source: papers/cross_mesh_resharding.txt 2.2 and 3.
#ifndef MESHWRIGHT_COORDINATOR_STAGES_BOUNDARY_H_
#define MESHWRIGHT_COORDINATOR_STAGES_BOUNDARY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/sharding.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/stages/cluster.h"
#include "coordinator/stages/crossings.h"
#include "planner/pipeline/pipeline_problem.h"
#include "planner/reshard/solve.h"

namespace meshwright::stages {

struct Bandwidths {
  double host = 0;    // of the port of a row, bytes per second
  double device = 0;  // of the port of a device within a row
};

// How a segment of this configuration reads a value, or leaves it; nothing
// where it has none of it.
std::optional<space::Sharding> FindTensorSharding(
    const planning::MeasuredStep& step, segmenter::SegmentIndex segment,
    int configuration, ir::ValueId value, bool leaves);

// One side of a boundary.
struct StageSide {
  const planning::MeasuredStep* step = nullptr;  // on the stage's mesh
  segmenter::SegmentIndex first;                 // segments [first, end)
  segmenter::SegmentIndex end;
  const std::vector<int>* choice = nullptr;  // by segment from `first`
  const std::vector<int64_t>* devices = nullptr;
};

struct CrossingPlan {
  Crossing crossing;
  int64_t bytes = 0;
  base::AxisDims source;  // on the sender's mesh
  base::AxisDims target;
};

struct TransferPlan {
  int64_t bytes = 0;
  reshard::ReshardProblem problem;        // task ids "tensor.unit"
  std::optional<reshard::Answer> answer;  // none: nothing crosses

  // Zero where nothing crosses.
  pipeline::Picoseconds Time() const;
};

struct BoundaryPlan {
  bool within_host = false;
  std::vector<CrossingPlan> crossings;
  TransferPlan forward;
  TransferPlan backward;
};

class BoundaryPlanner {
 public:
  // The references outlive it.
  BoundaryPlanner(const Cluster& cluster, const Bandwidths& bandwidths,
                  const std::vector<Cut>& cuts)
      : cluster_(cluster), bandwidths_(bandwidths), cuts_(cuts) {}

  // Where nothing is planned yet: everything through one port of the faster
  // kind.
  pipeline::Transfer Bound(const segmenter::Analysis& analysis, int cut) const;

  // The tensors that cross between the two stages, and their time; equal
  // boundaries are scheduled once. Errors: those of decomposing and of
  // scheduling (planner/reshard).
  absl::StatusOr<BoundaryPlan> Plan(const StageSide& before,
                                    const StageSide& behind);

 private:
  absl::StatusOr<TransferPlan> Solve(const BoundaryPlan& plan,
                                     const StageSide& sender,
                                     const StageSide& receiver, bool backward);
  std::vector<std::string> NameHosts(const StageSide& side,
                                     bool within_host) const;
  bool WithinHost(const StageSide& before, const StageSide& behind) const;

  const Cluster& cluster_;
  const Bandwidths bandwidths_;
  const std::vector<Cut>& cuts_;
  std::map<std::string, TransferPlan> solved_;
};

}  // namespace meshwright::stages

#endif  // MESHWRIGHT_COORDINATOR_STAGES_BOUNDARY_H_
