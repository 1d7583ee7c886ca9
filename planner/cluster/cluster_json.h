// The cluster file: a Description as JSON, and the link file that it grew from.
//
// Concept: docs/formats/cluster.md. A file with `devices` is a cluster. One
// with `alpha` and `beta` alone is a link file: the links of one mesh, without
// the devices. Meshes in a cluster file are for people and are not read.
// Threads: pure functions.
// Errors: kInvalidArgument, one sentence that names the field, or those of
// BuildCluster.
#ifndef MESHWRIGHT_PLANNER_CLUSTER_CLUSTER_JSON_H_
#define MESHWRIGHT_PLANNER_CLUSTER_CLUSTER_JSON_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/link.h"
#include "base/sharding.h"
#include "planner/cluster/cluster.h"
#include "planner/cluster/description.h"
#include "planner/cluster/meshes.h"

namespace meshwright::cluster {

// Checked: BuildCluster takes it.
absl::StatusOr<Description> ParseDescription(std::string_view json);

// The links of a mesh's axes, of either file. Of a cluster those of the mesh
// that FindMesh makes.
absl::StatusOr<base::Links> ParseLinks(std::string_view json,
                                       const base::Mesh& mesh);

// With `meshes` of that cluster, in their order.
std::string FormatDescription(const Description& description,
                              const Cluster& cluster,
                              const std::vector<DeviceMesh>& meshes);

}  // namespace meshwright::cluster

#endif  // MESHWRIGHT_PLANNER_CLUSTER_CLUSTER_JSON_H_
