// Cluster: devices, and the link class of every pair of them.
//
// Concept: a complete graph whose edges are classes of links, fastest first.
// Partly NVLinked boxes, switches and networks differ only in the classes that
// their pairs have. A class is as fast as a step of kReferenceBytes over it.
// Shapes: device i is the i-th of the list; pairs are symmetric.
// Units: seconds, seconds per byte, bytes.
// Threads: a constant value.
#ifndef MESHWRIGHT_PLANNER_CLUSTER_CLUSTER_H_
#define MESHWRIGHT_PLANNER_CLUSTER_CLUSTER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/link.h"
#include "base/strong_id.h"

namespace meshwright::cluster {

using DeviceIndex = base::StrongIndex<struct DeviceTag>;
// Smaller is faster.
using ClassIndex = base::StrongIndex<struct LinkClassTag, uint16_t>;

inline constexpr size_t kMaxDevices = 4096;
inline constexpr size_t kMaxClasses = 256;
// The size of message that classes are compared by.
inline constexpr double kReferenceBytes = 4 << 20;

struct LinkClass {
  std::string name;
  base::Link link;
  // What a fit said (fit.h); none in a file that a person wrote.
  std::optional<double> residual;
  std::optional<int> timings;
};

// Seconds of one step of kReferenceBytes.
double ComputeReferenceSeconds(const base::Link& link);

// Fastest first.
void SortClasses(std::vector<LinkClass>& classes);

class Cluster {
 public:
  // `classes` fastest first. Every pair gets class 0.
  Cluster(std::vector<std::string> devices, std::vector<LinkClass> classes);

  size_t device_count() const { return devices_.size(); }
  const std::string& device_name(DeviceIndex device) const {
    return devices_[device];
  }
  const std::vector<std::string>& devices() const { return devices_; }
  const std::vector<LinkClass>& classes() const { return classes_; }

  // Of two different devices.
  ClassIndex FindClass(DeviceIndex a, DeviceIndex b) const {
    return pairs_[a * devices_.size() + b];
  }
  void SetClass(DeviceIndex a, DeviceIndex b, ClassIndex link_class);

 private:
  std::vector<std::string> devices_;
  std::vector<LinkClass> classes_;
  std::vector<ClassIndex> pairs_;
};

// The parts that hang together by links of `slowest` and faster ones: a number
// from 0 for every device, in the order of their first devices.
std::vector<size_t> FindComponents(const Cluster& cluster, ClassIndex slowest);

}  // namespace meshwright::cluster

#endif  // MESHWRIGHT_PLANNER_CLUSTER_CLUSTER_H_
