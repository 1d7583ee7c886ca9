#include "planner/cluster/meshes.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "planner/cluster/placement.h"

namespace meshwright::cluster {
namespace {

// Devices that the search of a mesh tries, beside so many for every place.
constexpr int64_t kMaxTries = 2'000'000;
constexpr int64_t kTriesPerPlace = 256;

int64_t CountPlaces(const base::Mesh& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1},
                         std::multiplies<>());
}

// Whether the parts that hang together at `limit` are large enough for the axes
// that it bounds.
bool MayFit(const Cluster& cluster, const base::Mesh& shape,
            const std::vector<ClassIndex>& slowest, ClassIndex limit) {
  int64_t block = 1;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (slowest[axis] <= limit) block *= shape[axis];
  }
  std::map<size_t, int64_t> sizes;
  for (const size_t part : FindComponents(cluster, limit)) ++sizes[part];
  return std::all_of(sizes.begin(), sizes.end(), [&](const auto& part) {
    return part.second % block == 0;
  });
}

MeshAxis DescribeAxis(const Cluster& cluster, const base::Mesh& shape,
                      const std::vector<DeviceIndex>& devices, size_t axis) {
  MeshAxis made;
  made.devices = shape[axis];
  if (made.devices == 1) return made;
  size_t stride = 1;
  for (size_t i = axis + 1; i < shape.size(); ++i) stride *= shape[i];
  const auto length = static_cast<size_t>(shape[axis]);
  for (size_t first = 0; first < devices.size(); ++first) {
    if (first / stride % length != 0) continue;
    ClassIndex slowest;
    for (size_t i = 0; i < length; ++i) {
      for (size_t k = i + 1; k < length; ++k) {
        slowest =
            std::max(slowest, cluster.FindClass(devices[first + i * stride],
                                                devices[first + k * stride]));
      }
    }
    made.slowest = std::max(made.slowest.value_or(slowest), slowest);
    made.fastest = std::min(made.fastest.value_or(slowest), slowest);
  }
  return made;
}

}  // namespace

absl::StatusOr<DeviceMesh> FindMesh(const Cluster& cluster,
                                    const base::Mesh& shape) {
  if (CountPlaces(shape) != static_cast<int64_t>(cluster.device_count())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "mesh ", absl::StrJoin(shape, "x"), " has ", CountPlaces(shape),
        " places, but the cluster has ", cluster.device_count(),
        " devices; give a mesh of as many"));
  }
  const ClassIndex last(std::max<size_t>(cluster.classes().size(), 1) - 1);
  DeviceMesh mesh;
  mesh.devices.resize(cluster.device_count());
  for (size_t i = 0; i < mesh.devices.size(); ++i) {
    mesh.devices[i] = DeviceIndex(i);
  }
  std::vector<ClassIndex> slowest(shape.size(), last);
  int64_t tries = kMaxTries + kTriesPerPlace * CountPlaces(shape);
  for (size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] == 1) continue;
    // The class of the arrangement in hand always fits.
    const ClassIndex held =
        *DescribeAxis(cluster, shape, mesh.devices, axis).slowest;
    slowest[axis] = held;
    for (ClassIndex limit; limit < held; ++limit) {
      slowest[axis] = limit;
      if (MayFit(cluster, shape, slowest, limit)) {
        Placement placed = PlaceDevices(cluster, shape, slowest, tries);
        if (!placed.complete) mesh.proven = false;
        if (!placed.devices.empty()) {
          mesh.devices = std::move(placed.devices);
          break;
        }
      }
      slowest[axis] = held;
    }
  }
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    mesh.axes.push_back(DescribeAxis(cluster, shape, mesh.devices, axis));
  }
  return mesh;
}

base::Links FindLinks(const Cluster& cluster, const DeviceMesh& mesh) {
  base::Links links;
  for (const MeshAxis& axis : mesh.axes) {
    links.push_back(axis.slowest.has_value()
                        ? cluster.classes()[*axis.slowest].link
                        : base::Link());
  }
  return links;
}

std::vector<base::Mesh> ListShapes(int64_t devices, int maximum_axes) {
  if (devices == 1) return {{1}};
  std::vector<base::Mesh> shapes;
  // Heads whose last factor is still to be cut.
  std::vector<base::Mesh> open = {{devices}};
  while (!open.empty()) {
    const base::Mesh shape = open.back();
    open.pop_back();
    shapes.push_back(shape);
    if (static_cast<int>(shape.size()) >= maximum_axes) continue;
    const int64_t rest = shape.back();
    for (int64_t factor = 2; factor <= rest / 2; ++factor) {
      if (rest % factor != 0) continue;
      base::Mesh longer = shape;
      longer.back() = factor;
      longer.push_back(rest / factor);
      open.push_back(std::move(longer));
    }
  }
  std::sort(shapes.begin(), shapes.end(),
            [](const base::Mesh& a, const base::Mesh& b) {
              return a.size() != b.size() ? a.size() < b.size() : a < b;
            });
  return shapes;
}

double EstimateAllReduceSeconds(const base::Mesh& shape,
                                const base::Links& links, double bytes) {
  double seconds = 0;
  for (size_t axis = shape.size(); axis-- > 0;) {
    // A scatter and the gather of its shards take what an all-reduce takes.
    seconds += base::EstimateCollectiveSeconds(base::Collective::kAllReduce,
                                               shape[axis], bytes, links[axis]);
    bytes /= static_cast<double>(shape[axis]);
  }
  return seconds;
}

}  // namespace meshwright::cluster
