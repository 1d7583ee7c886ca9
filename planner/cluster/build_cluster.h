// BuildCluster: the graph of a description, checked.
//
// In → Out: a description → a complete graph, or the fault in it.
// Units: as in cluster.h. Threads: pure.
// Errors: kInvalidArgument, one sentence that names the group, link or class
// and the way out. Faults are a name that nobody has or two have, a figure that
// is negative or not finite, a group inside itself, a member of two groups, and
// devices that no group joins.
#ifndef MESHWRIGHT_PLANNER_CLUSTER_BUILD_CLUSTER_H_
#define MESHWRIGHT_PLANNER_CLUSTER_BUILD_CLUSTER_H_

#include "absl/status/statusor.h"
#include "planner/cluster/cluster.h"
#include "planner/cluster/description.h"

namespace meshwright::cluster {

absl::StatusOr<Cluster> BuildCluster(const Description& description);

}  // namespace meshwright::cluster

#endif  // MESHWRIGHT_PLANNER_CLUSTER_BUILD_CLUSTER_H_
