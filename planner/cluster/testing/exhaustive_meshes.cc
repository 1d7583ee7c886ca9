#include "planner/cluster/testing/exhaustive_meshes.h"

#include <algorithm>
#include <numeric>

namespace meshwright::cluster {

Costs FindCosts(const Cluster& cluster, const base::Mesh& shape,
                const std::vector<size_t>& devices) {
  Costs costs;
  size_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    const auto size = static_cast<size_t>(shape[axis]);
    size_t slowest = 0;
    for (size_t a = 0; a < devices.size(); ++a) {
      for (size_t b = a + 1; b < devices.size(); ++b) {
        const bool others_equal = a / (stride * size) == b / (stride * size) &&
                                  a % stride == b % stride;
        if (!others_equal) continue;
        slowest = std::max<size_t>(slowest,
                                   cluster.FindClass(DeviceIndex(devices[a]),
                                                     DeviceIndex(devices[b])));
      }
    }
    costs.push_back(slowest);
    stride *= size;
  }
  return costs;
}

Costs SearchExhaustively(const Cluster& cluster, const base::Mesh& shape) {
  std::vector<size_t> devices(cluster.device_count());
  std::iota(devices.begin(), devices.end(), size_t{0});
  Costs best = FindCosts(cluster, shape, devices);
  // The mesh looks alike from every place.
  while (std::next_permutation(devices.begin() + 1, devices.end())) {
    best = std::min(best, FindCosts(cluster, shape, devices));
  }
  return best;
}

}  // namespace meshwright::cluster
