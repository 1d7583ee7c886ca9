// Detect: a description of a cluster from timings of its pairs and groups.
//
// Concept: every pair's link is fitted alone, from send/receives; pairs that
// are alike make a class (classes.h), which is fitted again from those of all
// its pairs. So the figures of a class rest on many timings, and a pair's noise
// makes no class. Collectives use both directions of a link at once, and in
// ways that libraries choose: they tell the bus bandwidths, of the slowest link
// in their group.
// In → Out: timings → classes with residuals, groups, direct links, timings.
// Units: timing.h. Threads: pure.
// Errors: kInvalidArgument for a pair that was not timed, or too little to be
// fitted; the sentence names the pair.
// Source: papers/map_colossal_auto.txt 4.2.
#ifndef MESHWRIGHT_PLANNER_CLUSTER_DETECTION_H_
#define MESHWRIGHT_PLANNER_CLUSTER_DETECTION_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/cluster/classes.h"
#include "planner/cluster/cluster.h"
#include "planner/cluster/description.h"
#include "planner/cluster/meshes.h"
#include "planner/cluster/timing.h"

namespace meshwright::cluster {

struct GroupTiming {
  std::vector<DeviceIndex> devices;
  Timing timing;
};

using DevicePair = std::pair<DeviceIndex, DeviceIndex>;  // the smaller first

// `prefix` begins the names of the classes: "tcp0", "tcp1", ... fastest first.
// Pairs of `untimed` may have no timings; they are of the slowest class.
absl::StatusOr<Description> Detect(const std::vector<std::string>& devices,
                                   const std::vector<GroupTiming>& timings,
                                   const std::string& prefix,
                                   const ClassTolerance& tolerance = {},
                                   const std::set<DevicePair>& untimed = {});

// Boxes of one kind in place of the devices of `outer`, whose links lie between
// them. Devices are named "host/device". Errors: kInvalidArgument for a class
// of both, or more devices than a cluster may have.
absl::StatusOr<Description> NestBoxes(const Description& outer,
                                      const Description& box);

// Meshes of every shape of at most `maximum_axes` axes, best first: by the time
// of an all-reduce of kAllReduceBytes over all devices.
inline constexpr double kAllReduceBytes = 256 << 20;
std::vector<DeviceMesh> RankMeshes(const Cluster& cluster, int maximum_axes);

}  // namespace meshwright::cluster

#endif  // MESHWRIGHT_PLANNER_CLUSTER_DETECTION_H_
