#include "cli/cluster/plan_meshes.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "cli/cluster/mesh_order.h"
#include "cli/flags/arguments.h"
#include "cli/text/format.h"

namespace meshwright::cli {
namespace {

std::string DescribeSeconds(const char* what, std::optional<double> seconds) {
  return seconds.has_value() ? absl::StrCat(what, " ", FormatSeconds(*seconds))
                             : absl::StrCat(what, " not to fit");
}

std::string DescribeEstimate(const MeshCandidate& mesh) {
  if (!mesh.refusal.ok()) {
    return absl::StrCat(NameShape(mesh.shape),
                        " not estimated: ", mesh.refusal.message());
  }
  return absl::StrCat(NameShape(mesh.shape), " ",
                      DescribeSeconds("estimated", mesh.estimate_seconds));
}

bool IsFaster(const v1::Plan& a, const v1::Plan& b) {
  if (a.feasible() != b.feasible()) return a.feasible();
  return a.feasible() &&
         a.predicted().step_seconds() < b.predicted().step_seconds();
}

// An interruption, or time that is over: so is that of the next mesh.
bool EndsPlanning(const absl::Status& status) {
  return absl::IsCancelled(status) || absl::IsDeadlineExceeded(status);
}

absl::StatusOr<std::vector<base::Mesh>> ListWishedShapes(
    const cluster::Cluster& cluster, const MeshWishes& wishes) {
  if (wishes.mesh.empty()) return ListPlanShapes(cluster, wishes.maximum_axes);
  ASSIGN_OR_RETURN(const v1::MeshSpec mesh, ParseMesh(wishes.mesh));
  return std::vector<base::Mesh>{{mesh.shape().begin(), mesh.shape().end()}};
}

}  // namespace

absl::StatusOr<v1::Plan> PlanMeshes(const v1::PlanRequest& request,
                                    const cluster::Cluster& cluster,
                                    const MeshWishes& wishes,
                                    const PlanFunction& plan) {
  ASSIGN_OR_RETURN(const std::vector<base::Mesh> shapes,
                   ListWishedShapes(cluster, wishes));
  ASSIGN_OR_RETURN(const std::vector<MeshCandidate> meshes,
                   OrderMeshes(request, cluster, shapes));
  std::optional<v1::Plan> best;
  absl::Status first_failure;
  size_t chosen = 0;
  std::vector<std::string> results;
  bool stopped = false;
  for (size_t i = 0; i < meshes.size(); ++i) {
    const bool enough = wishes.maximum_meshes > 0 &&
                        i >= static_cast<size_t>(wishes.maximum_meshes);
    // A mesh that does not fit by far is planned only where none does.
    const bool hopeless = !meshes[i].estimate_seconds.has_value() &&
                          best.has_value() && best->feasible();
    if (stopped || enough || hopeless) {
      results.push_back(
          absl::StrCat(DescribeEstimate(meshes[i]), ", not planned"));
      continue;
    }
    if (wishes.report) {
      wishes.report(absl::StrCat("mesh ", i + 1, " of ", meshes.size(), ": ",
                                 DescribeEstimate(meshes[i])));
    }
    absl::StatusOr<v1::Plan> planned =
        plan(AskForMesh(request, meshes[i], wishes.with_links));
    if (!planned.ok()) {
      stopped = EndsPlanning(planned.status());
      if (stopped && !best.has_value()) return planned.status();
      first_failure.Update(planned.status());
      results.push_back(absl::StrCat(DescribeEstimate(meshes[i]),
                                     ", failed: ", planned.status().message()));
      continue;
    }
    std::optional<double> seconds;
    if (planned->feasible()) seconds = planned->predicted().step_seconds();
    results.push_back(absl::StrCat(DescribeEstimate(meshes[i]), ", ",
                                   DescribeSeconds("planned", seconds)));
    if (best.has_value() && !IsFaster(*planned, *best)) continue;
    best = *std::move(planned);
    chosen = i;
  }
  if (!best.has_value()) return first_failure;
  best->add_notes(
      absl::StrCat("the mesh was chosen among ", meshes.size(),
                   " of the cluster: ", absl::StrJoin(results, "; ")));
  const std::string order = DescribeOrder(cluster, meshes[chosen]);
  if (!order.empty()) best->add_notes(order);
  return *std::move(best);
}

}  // namespace meshwright::cli
