#include "coordinator/stages/cluster.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace meshwright::stages {
namespace {

constexpr int64_t kMaxEqualParts = 16;

// A power of two, or one of a few equal parts of the cluster.
bool IsEvenPart(int64_t rows, const Cluster& cluster) {
  return (rows & (rows - 1)) == 0 ||
         (cluster.rows % rows == 0 && cluster.rows / rows <= kMaxEqualParts);
}

}  // namespace

absl::StatusOr<Cluster> ParseCluster(const std::vector<int64_t>& mesh) {
  if (mesh.empty() || mesh.size() > 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a cluster is hosts times devices, like 2x8, and the mesh has ",
        mesh.size(), " axes"));
  }
  Cluster cluster;
  if (mesh.size() == 2) cluster.rows = mesh[0];
  cluster.columns = mesh.back();
  if ((cluster.columns & (cluster.columns - 1)) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the hosts of ", NameMesh(mesh), " have ", cluster.columns,
        " devices, and stages are cut from hosts of 1, 2, 4, 8, ... devices; "
        "give so many, or plan without --stages"));
  }
  return cluster;
}

std::vector<space::Mesh> ListStageMeshes(const Cluster& cluster) {
  std::vector<space::Mesh> meshes;
  for (int64_t size = 1; size <= cluster.columns; size *= 2) {
    meshes.push_back({1, size});
  }
  const int64_t all = static_cast<int64_t>(meshes.size()) + cluster.rows - 1;
  for (int64_t rows = 2; rows <= cluster.rows; ++rows) {
    if (all <= pipeline::kMaxMeshes || IsEvenPart(rows, cluster)) {
      meshes.push_back({rows, cluster.columns});
    }
  }
  return meshes;
}

std::string NameMesh(const space::Mesh& mesh) {
  return absl::StrJoin(mesh, "x");
}

std::vector<std::vector<int64_t>> Place(
    const Cluster& cluster, const std::vector<space::Mesh>& meshes) {
  std::multimap<int64_t, int64_t> free;  // pieces of rows: size -> first device
  int64_t next_row = 0;
  std::vector<std::vector<int64_t>> placed;
  for (const space::Mesh& mesh : meshes) {
    const int64_t devices = space::CountDevices(mesh);
    int64_t first = 0;
    if (devices >= cluster.columns) {
      first = next_row * cluster.columns;
      next_row += devices / cluster.columns;
    } else {
      auto piece = free.lower_bound(devices);
      if (piece == free.end()) {
        piece = free.emplace(cluster.columns, next_row++ * cluster.columns);
      }
      int64_t size = piece->first;
      first = piece->second;
      free.erase(piece);
      while (size > devices) {
        size /= 2;
        free.emplace(size, first + size);
      }
    }
    std::vector<int64_t>& numbers = placed.emplace_back();
    for (int64_t i = 0; i < devices; ++i) numbers.push_back(first + i);
  }
  return placed;
}

}  // namespace meshwright::stages
