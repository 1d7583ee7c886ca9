// DescribeCluster: groups and direct links that make a given graph.
//
// Concept: devices that links of the fastest class hold together are a group;
// groups that the next class holds together are a larger one. A group has the
// class that most pairs between its members have; the others are direct links.
// In → Out: a cluster → a description without a name and timings. BuildCluster
// makes the same cluster of it.
// Threads: pure.
#ifndef MESHWRIGHT_PLANNER_CLUSTER_DESCRIBE_CLUSTER_H_
#define MESHWRIGHT_PLANNER_CLUSTER_DESCRIBE_CLUSTER_H_

#include "planner/cluster/cluster.h"
#include "planner/cluster/description.h"

namespace meshwright::cluster {

Description DescribeCluster(const Cluster& cluster);

}  // namespace meshwright::cluster

#endif  // MESHWRIGHT_PLANNER_CLUSTER_DESCRIBE_CLUSTER_H_
