// PlanMeshes: the fastest plan over the meshes of a cluster.
//
// Concept: meshes are planned in the order of OrderMeshes, each as if it were
// asked for alone, and the fastest plan that fits is the answer. Its notes say
// what every mesh was estimated and planned at, and which device stands where.
// A person who interrupts the work, time that is over, or a limit on the number
// of meshes leaves the best of those that were planned. A mesh that fails is a
// note.
// In → Out: a request without a mesh → a plan of the best mesh.
// Threads: one.
// Errors: those of OrderMeshes (mesh_order.h); where no mesh has a plan, those
// of the first one's planning. kCancelled and kDeadlineExceeded of a mesh end
// all planning.
#ifndef MESHWRIGHT_CLI_CLUSTER_PLAN_MESHES_H_
#define MESHWRIGHT_CLI_CLUSTER_PLAN_MESHES_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "planner/cluster/cluster.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::cli {

struct MeshWishes {
  std::string mesh;  // this one alone; empty: every factorisation
  int maximum_axes = 2;
  int maximum_meshes = 0;  // to plan; 0: all
  // Links are part of the request where nothing, or one device alone, is
  // measured.
  bool with_links = false;
  std::function<void(const std::string&)> report;  // before each mesh
};

using PlanFunction =
    std::function<absl::StatusOr<v1::Plan>(const v1::PlanRequest&)>;

absl::StatusOr<v1::Plan> PlanMeshes(const v1::PlanRequest& request,
                                    const cluster::Cluster& cluster,
                                    const MeshWishes& wishes,
                                    const PlanFunction& plan);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_CLUSTER_PLAN_MESHES_H_
