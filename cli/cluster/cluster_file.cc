#include "cli/cluster/cluster_file.h"

#include <utility>

#include "base/file.h"
#include "base/status_macros.h"
#include "cli/flags/plan_file.h"
#include "planner/cluster/build_cluster.h"
#include "planner/cluster/cluster_json.h"

namespace meshwright::cli {

absl::StatusOr<LoadedCluster> LoadCluster(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, base::ReadFile(path));
  ASSIGN_OR_RETURN(cluster::Description description,
                   NamePath(cluster::ParseDescription(text), path));
  ASSIGN_OR_RETURN(cluster::Cluster cluster,
                   cluster::BuildCluster(description));
  return LoadedCluster{std::move(description), std::move(cluster)};
}

}  // namespace meshwright::cli
