#include "cli/cluster/mesh_order.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "coordinator/planning/symbolic_plan.h"

namespace meshwright::cli {

std::vector<base::Mesh> ListPlanShapes(const cluster::Cluster& cluster,
                                       int maximum_axes) {
  std::vector<base::Mesh> shapes = cluster::ListShapes(
      static_cast<int64_t>(cluster.device_count()), maximum_axes);
  for (base::Mesh& shape : shapes) {
    if (shape.size() == 1) shape.insert(shape.begin(), 1);
  }
  return shapes;
}

absl::StatusOr<std::vector<MeshCandidate>> OrderMeshes(
    const v1::PlanRequest& request, const cluster::Cluster& cluster,
    const std::vector<base::Mesh>& shapes) {
  std::vector<MeshCandidate> meshes;
  for (const base::Mesh& shape : shapes) {
    MeshCandidate& made = meshes.emplace_back();
    ASSIGN_OR_RETURN(made.mesh, cluster::FindMesh(cluster, shape));
    made.links = cluster::FindLinks(cluster, made.mesh);
    made.shape = shape;
    const absl::StatusOr<v1::Plan> plan =
        planning::MakeSymbolicPlan(AskForMesh(request, made, true));
    made.refusal = plan.status();
    if (plan.ok() && plan->feasible()) {
      made.estimate_seconds = plan->predicted().step_seconds();
    }
  }
  const bool refused =
      !meshes.empty() &&
      std::none_of(meshes.begin(), meshes.end(),
                   [](const MeshCandidate& it) { return it.refusal.ok(); });
  if (refused) return meshes.front().refusal;
  const auto rank = [](const MeshCandidate& it) {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    return std::pair(!it.refusal.ok(), it.estimate_seconds.value_or(kNever));
  };
  std::stable_sort(meshes.begin(), meshes.end(),
                   [&](const MeshCandidate& a, const MeshCandidate& b) {
                     return rank(a) < rank(b);
                   });
  return meshes;
}

v1::PlanRequest AskForMesh(v1::PlanRequest request, const MeshCandidate& mesh,
                           bool with_links) {
  request.mutable_mesh()->clear_shape();
  for (const int64_t size : mesh.shape) request.mutable_mesh()->add_shape(size);
  request.clear_links();
  if (!with_links) return request;
  for (const base::Link& link : mesh.links) {
    v1::AxisLink& axis = *request.add_links();
    axis.set_alpha(link.alpha);
    axis.set_beta(link.beta);
  }
  return request;
}

std::string NameShape(const base::Mesh& shape) {
  return absl::StrJoin(shape, "x");
}

std::string DescribeOrder(const cluster::Cluster& cluster,
                          const MeshCandidate& mesh) {
  std::vector<std::string> names;
  bool as_listed = true;
  for (const cluster::DeviceIndex device : mesh.mesh.devices) {
    as_listed = as_listed && device == cluster::DeviceIndex(names.size());
    names.push_back(cluster.device_name(device));
  }
  if (as_listed) return "";
  return absl::StrCat("the devices of the mesh, row by row: ",
                      absl::StrJoin(names, ", "));
}

}  // namespace meshwright::cli
