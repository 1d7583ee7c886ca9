// PlaceDevices: devices on a mesh whose axes keep to given classes.
//
// Concept: places are filled in row-major order, each with the first free
// device whose links to the filled places of its lines are fast enough; one
// that has none sends the search back. The mesh looks alike from every place
// and along every axis, so that the first device stands first and the devices
// of the first line of every axis rise. On clusters of nested boxes the search
// never goes back.
// In → Out: the slowest class per axis → an arrangement, or none.
// Threads: pure. Errors: none; see `complete`.
#ifndef MESHWRIGHT_PLANNER_CLUSTER_PLACEMENT_H_
#define MESHWRIGHT_PLANNER_CLUSTER_PLACEMENT_H_

#include <cstdint>
#include <vector>

#include "base/sharding.h"
#include "planner/cluster/cluster.h"

namespace meshwright::cluster {

struct Placement {
  std::vector<DeviceIndex> devices;  // by place; empty: none was found
  bool complete = true;              // false: the search gave up
};

// Takes the devices that it tries from `tries`, and gives up at 0.
Placement PlaceDevices(const Cluster& cluster, const base::Mesh& shape,
                       const std::vector<ClassIndex>& slowest, int64_t& tries);

}  // namespace meshwright::cluster

#endif  // MESHWRIGHT_PLANNER_CLUSTER_PLACEMENT_H_
