// FindMesh: the devices of a cluster as a mesh whose axes are as fast as may
// be.
//
// Concept: on a mesh every axis is made of lines: devices that differ in one
// coordinate. The slowest pair of all lines decides what the axis costs, so
// that the lines of one axis should have equal bandwidth. Of all arrangements
// FindMesh takes one whose last axis is as fast as possible, of these one whose
// last axis but one is, and so on. The last axis carries most communication.
//   An axis that must not be slower than class c needs parts of the graph, cut
// at c, whose sizes the mesh divides; a backtracking search then places the
// devices. It stops after a number of steps; a mesh is then perhaps not the
// fastest, and says so.
// Shapes: device (i0, i1, ..) stands at row-major place of `devices`.
// Units: seconds, bytes.
// Threads: pure functions.
// Errors: kInvalidArgument for a shape that is not the cluster's number of
// devices.
// Source: papers/map_colossal_auto.txt 4.2. The paper's code searches meshes
// of two axes; this has any number, and proves the answer.
#ifndef MESHWRIGHT_PLANNER_CLUSTER_MESHES_H_
#define MESHWRIGHT_PLANNER_CLUSTER_MESHES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "base/link.h"
#include "base/sharding.h"
#include "planner/cluster/cluster.h"

namespace meshwright::cluster {

struct MeshAxis {
  int64_t devices = 1;
  // Of the slowest and of the fastest line; none on an axis of one device.
  std::optional<ClassIndex> slowest;
  std::optional<ClassIndex> fastest;

  bool HasEqualLines() const { return slowest == fastest; }
};

struct DeviceMesh {
  std::vector<DeviceIndex> devices;
  std::vector<MeshAxis> axes;
  bool proven = true;  // no arrangement is faster
};

absl::StatusOr<DeviceMesh> FindMesh(const Cluster& cluster,
                                    const base::Mesh& shape);

// The largest alpha and beta of every axis's slowest line.
base::Links FindLinks(const Cluster& cluster, const DeviceMesh& mesh);

// Every ordered factorisation of `devices` into at most `maximum_axes` factors
// of 2 or more; {1} for one device.
std::vector<base::Mesh> ListShapes(int64_t devices, int maximum_axes);

// An all-reduce of `bytes` over all devices, axis by axis: scattered from the
// last axis to the first, gathered back.
double EstimateAllReduceSeconds(const base::Mesh& shape,
                                const base::Links& links, double bytes);

}  // namespace meshwright::cluster

#endif  // MESHWRIGHT_PLANNER_CLUSTER_MESHES_H_
