// OrderMeshes: the meshes that a cluster's devices may form, best first for one
// training step.
//
// Concept: every shape is laid out on the cluster (planner/cluster/meshes.h). A
// symbolic plan of the step with the links of its axes ranks it: the op-level
// solver, by roofline and links. Such estimates rank, and predict nothing.
// Meshes that do not fit the memory come last, behind them those whose symbolic
// plan is refused. In → Out: a request, whose mesh and links are not read, →
// meshes. Units: seconds. Threads: one. Errors: those of FindMesh
// (planner/cluster/meshes.h); where every mesh is refused, those of
// MakeSymbolicPlan (coordinator/planning/symbolic_plan.h) for the first one.
// Source: papers/map_colossal_auto.txt 4.2; the paper's code takes the mesh of
// the largest bandwidth, whatever the model.
#ifndef MESHWRIGHT_CLI_CLUSTER_MESH_ORDER_H_
#define MESHWRIGHT_CLI_CLUSTER_MESH_ORDER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/link.h"
#include "base/sharding.h"
#include "planner/cluster/cluster.h"
#include "planner/cluster/meshes.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::cli {

struct MeshCandidate {
  base::Mesh shape;
  cluster::DeviceMesh mesh;
  base::Links links;
  std::optional<double> estimate_seconds;  // none: it does not fit
  absl::Status refusal;                    // of the symbolic plan
};

// Every factorisation of the devices; that of one axis as 1xN, because the
// baselines tell an outer axis from an inner one.
std::vector<base::Mesh> ListPlanShapes(const cluster::Cluster& cluster,
                                       int maximum_axes);

absl::StatusOr<std::vector<MeshCandidate>> OrderMeshes(
    const v1::PlanRequest& request, const cluster::Cluster& cluster,
    const std::vector<base::Mesh>& shapes);

// The request for that mesh. Its links are set where `with_links`.
v1::PlanRequest AskForMesh(v1::PlanRequest request, const MeshCandidate& mesh,
                           bool with_links);

// "2x4".
std::string NameShape(const base::Mesh& shape);
// For the notes of a plan: which device stands where. Empty where they stand as
// they are listed.
std::string DescribeOrder(const cluster::Cluster& cluster,
                          const MeshCandidate& mesh);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_CLUSTER_MESH_ORDER_H_
