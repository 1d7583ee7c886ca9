// Meshes by looking at every arrangement of the devices: an oracle.
//
// Cost: factorial in the devices; eight take milliseconds.
#ifndef MESHWRIGHT_PLANNER_CLUSTER_TESTING_EXHAUSTIVE_MESHES_H_
#define MESHWRIGHT_PLANNER_CLUSTER_TESTING_EXHAUSTIVE_MESHES_H_

#include <cstddef>
#include <vector>

#include "planner/cluster/meshes.h"

namespace meshwright::cluster {

using Costs = std::vector<size_t>;  // slowest class per axis, the last first

// Of an arrangement, straight from the definition.
Costs FindCosts(const Cluster& cluster, const base::Mesh& shape,
                const std::vector<size_t>& devices);

// The least over all arrangements.
Costs SearchExhaustively(const Cluster& cluster, const base::Mesh& shape);

}  // namespace meshwright::cluster

#endif  // MESHWRIGHT_PLANNER_CLUSTER_TESTING_EXHAUSTIVE_MESHES_H_
