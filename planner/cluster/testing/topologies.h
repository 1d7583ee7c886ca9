// Clusters for tests: those of the paper and of data centres, and random ones.
//
// Source: papers/map_colossal_auto.txt, Fig. 4 and section 7 (figures of the
// box with NVLink between pairs).
#ifndef MESHWRIGHT_PLANNER_CLUSTER_TESTING_TOPOLOGIES_H_
#define MESHWRIGHT_PLANNER_CLUSTER_TESTING_TOPOLOGIES_H_

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "planner/cluster/cluster.h"
#include "planner/cluster/detection.h"
#include "planner/cluster/timing.h"

namespace meshwright::cluster {

// Devices "0", "1", ... and classes as listed, fastest first; `find` says which
// class a pair has.
Cluster MakeCluster(size_t devices, std::vector<LinkClass> classes,
                    const std::function<size_t(size_t, size_t)>& find);

// Eight GPUs: NVLink in pairs, PCIe among four, a slower bridge between fours.
Cluster MakePairedBox();
// Eight GPUs on one switch.
Cluster MakeSwitchedBox();
// Two boxes of `per_host` GPUs on switches, and a network.
Cluster MakeTwoHosts(size_t per_host);
// A box with a switch and one with PCIe, and a network.
Cluster MakeMixedHosts();
// Every pair has a class of its own choice.
Cluster MakeRandomCluster(size_t devices, size_t classes, uint64_t seed);

// What timing every operation over links of this class gives, each off by a
// normal share of `noise`.
std::vector<Timing> MakeTimings(const base::Link& link,
                                const std::vector<int64_t>& groups,
                                double noise, std::mt19937_64& random);

// What timing every pair of a cluster gives.
std::vector<GroupTiming> TimePairs(const Cluster& cluster, double noise,
                                   uint64_t seed);

}  // namespace meshwright::cluster

#endif  // MESHWRIGHT_PLANNER_CLUSTER_TESTING_TOPOLOGIES_H_
