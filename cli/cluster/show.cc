#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "cli/cluster/cluster_file.h"
#include "cli/cluster/cluster_text.h"
#include "cli/cluster/cluster_verbs.h"
#include "cli/flags/arguments.h"
#include "planner/cluster/cluster_json.h"
#include "planner/cluster/detection.h"

namespace meshwright::cli {
namespace {

struct ShowFlags {
  std::string file;
  std::string mesh;
  int maximum_axes = 3;
};

absl::Status Show(const Context& context, const ShowFlags& flags) {
  ASSIGN_OR_RETURN(const LoadedCluster loaded, LoadCluster(flags.file));
  std::vector<cluster::DeviceMesh> meshes;
  if (flags.mesh.empty()) {
    meshes = cluster::RankMeshes(loaded.cluster, flags.maximum_axes);
  } else {
    ASSIGN_OR_RETURN(const v1::MeshSpec mesh, ParseMesh(flags.mesh));
    ASSIGN_OR_RETURN(meshes.emplace_back(),
                     cluster::FindMesh(loaded.cluster, {mesh.shape().begin(),
                                                        mesh.shape().end()}));
  }
  *context.out << (context.json
                       ? cluster::FormatDescription(loaded.description,
                                                    loaded.cluster, meshes)
                       : DescribeClusterText(loaded.description, loaded.cluster,
                                             meshes));
  return absl::OkStatus();
}

}  // namespace

void AddClusterShowVerb(CLI::App& cluster, Context& context) {
  const auto [verb, flags] =
      AddVerb(cluster, context, "show",
              "check a cluster file and list the meshes of its devices", Show);
  verb->add_option("file", flags->file, "the cluster as JSON")->required();
  verb->add_option("--mesh", flags->mesh,
                   "this mesh alone, like 2x4 (default: all, best first)");
  verb->add_option("--max-axes", flags->maximum_axes,
                   "axes that a mesh may have")
      ->capture_default_str()
      ->check(CLI::Range(1, 8));
}

}  // namespace meshwright::cli
