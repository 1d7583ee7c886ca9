// Cluster: the devices that a pipeline's stages share out, and the meshes that
// stages may have.
//
//   2x4   row 0   0 1 2 3        meshes: 1x1 1x2 1x4 within a row (a host),
//         row 1   4 5 6 7                2x4 of whole rows
//
// Concept: a stage has 2^k devices of one row, or whole rows. Any such stages
// of as many devices as the cluster has fit into it. Rows are cut in halves,
// and a stage takes the smallest piece that is large enough. So no two free
// pieces are of one size. Where none is large enough for the next stage, all of
// them together are smaller than it, and a whole row is left.
// Shapes: devices are numbered row-major.
// Errors: kInvalidArgument for a cluster that has no two axes, or whose rows
// hold no power of two.
// Source: Alpa (Zheng et al. 2022), 5.2 and theorem 1.
#ifndef MESHWRIGHT_COORDINATOR_STAGES_CLUSTER_H_
#define MESHWRIGHT_COORDINATOR_STAGES_CLUSTER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/space/annotation/sharding.h"
#include "planner/pipeline/partition_problem.h"

namespace meshwright::stages {

struct Cluster {
  int64_t rows = 1;
  int64_t columns = 1;

  int64_t Devices() const { return rows * columns; }
};

// {8} is one row of eight.
absl::StatusOr<Cluster> ParseCluster(const std::vector<int64_t>& mesh);

// By number of devices; the last one is the cluster. At most
// pipeline::kMaxMeshes: of more rows than that, stages have a power of two or
// one of up to 16 equal parts.
std::vector<space::Mesh> ListStageMeshes(const Cluster& cluster);

// "1x4".
std::string NameMesh(const space::Mesh& mesh);

// The devices of every stage, in the order of its mesh. `meshes` are of
// ListStageMeshes and have no more devices than the cluster.
std::vector<std::vector<int64_t>> Place(const Cluster& cluster,
                                        const std::vector<space::Mesh>& meshes);

}  // namespace meshwright::stages

#endif  // MESHWRIGHT_COORDINATOR_STAGES_CLUSTER_H_
