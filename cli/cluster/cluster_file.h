// LoadCluster: a cluster file, read and checked (docs/formats/cluster.md).
//
// Errors: kInvalidArgument, one sentence that names the file; those of
// base::ReadFile.
#ifndef MESHWRIGHT_CLI_CLUSTER_CLUSTER_FILE_H_
#define MESHWRIGHT_CLI_CLUSTER_CLUSTER_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "planner/cluster/cluster.h"
#include "planner/cluster/description.h"

namespace meshwright::cli {

struct LoadedCluster {
  cluster::Description description;
  cluster::Cluster cluster;
};

absl::StatusOr<LoadedCluster> LoadCluster(const std::string& path);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_CLUSTER_CLUSTER_FILE_H_
