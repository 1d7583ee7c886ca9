#include "planner/cluster/cluster.h"

#include <algorithm>
#include <limits>

#include "base/index_range.h"

namespace meshwright::cluster {

double ComputeReferenceSeconds(const base::Link& link) {
  return link.alpha + kReferenceBytes * link.beta;
}

void SortClasses(std::vector<LinkClass>& classes) {
  std::stable_sort(classes.begin(), classes.end(),
                   [](const LinkClass& a, const LinkClass& b) {
                     return ComputeReferenceSeconds(a.link) <
                            ComputeReferenceSeconds(b.link);
                   });
}

Cluster::Cluster(std::vector<std::string> devices,
                 std::vector<LinkClass> classes)
    : devices_(std::move(devices)),
      classes_(std::move(classes)),
      pairs_(devices_.size() * devices_.size()) {}

void Cluster::SetClass(DeviceIndex a, DeviceIndex b, ClassIndex link_class) {
  pairs_[a * devices_.size() + b] = link_class;
  pairs_[b * devices_.size() + a] = link_class;
}

std::vector<size_t> FindComponents(const Cluster& cluster, ClassIndex slowest) {
  constexpr size_t kNone = std::numeric_limits<size_t>::max();
  const base::IndexRange<DeviceIndex> devices(cluster.device_count());
  std::vector<size_t> component(cluster.device_count(), kNone);
  size_t count = 0;
  std::vector<DeviceIndex> waiting;
  for (const DeviceIndex first : devices) {
    if (component[first] != kNone) continue;
    component[first] = count;
    waiting.assign(1, first);
    while (!waiting.empty()) {
      const DeviceIndex from = waiting.back();
      waiting.pop_back();
      for (const DeviceIndex to : devices) {
        if (component[to] != kNone || cluster.FindClass(from, to) > slowest) {
          continue;
        }
        component[to] = count;
        waiting.push_back(to);
      }
    }
    ++count;
  }
  return component;
}

}  // namespace meshwright::cluster
