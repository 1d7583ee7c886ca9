// DescribeClusterText: a cluster for people: its link classes, what collectives
// reached on them, and its meshes, best first.
#ifndef MESHWRIGHT_CLI_CLUSTER_CLUSTER_TEXT_H_
#define MESHWRIGHT_CLI_CLUSTER_CLUSTER_TEXT_H_

#include <string>
#include <vector>

#include "planner/cluster/cluster.h"
#include "planner/cluster/description.h"
#include "planner/cluster/meshes.h"

namespace meshwright::cli {

std::string DescribeClusterText(const cluster::Description& description,
                                const cluster::Cluster& cluster,
                                const std::vector<cluster::DeviceMesh>& meshes);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_CLUSTER_CLUSTER_TEXT_H_
