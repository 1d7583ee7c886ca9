#include "planner/cluster/placement.h"

#include <optional>

#include "base/index_range.h"

namespace meshwright::cluster {
namespace {

class PlacementSearch {
 public:
  PlacementSearch(const Cluster& cluster, const base::Mesh& shape,
                  const std::vector<ClassIndex>& slowest, int64_t& tries)
      : cluster_(cluster),
        shape_(shape),
        slowest_(slowest),
        tries_(tries),
        places_(cluster.device_count()),
        used_(cluster.device_count(), false) {
    size_t stride = 1;
    strides_.resize(shape.size());
    for (size_t axis = shape.size(); axis-- > 0;) {
      strides_[axis] = stride;
      stride *= static_cast<size_t>(shape[axis]);
    }
  }

  Placement Run();

 private:
  // Whether `device` may stand at `place`, given the places before it.
  bool Fits(size_t place, DeviceIndex device) const;
  // The first free device from `from` on that fits.
  std::optional<DeviceIndex> FindNext(size_t place, size_t from);

  const Cluster& cluster_;
  const base::Mesh& shape_;
  const std::vector<ClassIndex>& slowest_;
  int64_t& tries_;  // left
  std::vector<size_t> strides_;
  std::vector<DeviceIndex> places_;
  std::vector<bool> used_;
  size_t first_free_ = 0;  // none below is free
};

bool PlacementSearch::Fits(size_t place, DeviceIndex device) const {
  for (size_t axis = 0; axis < shape_.size(); ++axis) {
    const size_t stride = strides_[axis];
    const size_t at = place / stride % static_cast<size_t>(shape_[axis]);
    if (at == 0) continue;
    // The first line of an axis rises.
    if (place == at * stride && device < places_[place - stride]) return false;
    for (size_t back = 1; back <= at; ++back) {
      if (cluster_.FindClass(places_[place - back * stride], device) >
          slowest_[axis]) {
        return false;
      }
    }
  }
  return true;
}

std::optional<DeviceIndex> PlacementSearch::FindNext(size_t place,
                                                     size_t from) {
  for (size_t i = std::max(from, first_free_); i < used_.size(); ++i) {
    if (used_[i]) continue;
    --tries_;
    if (Fits(place, DeviceIndex(i))) return DeviceIndex(i);
  }
  return std::nullopt;
}

Placement PlacementSearch::Run() {
  size_t place = 0;
  size_t from = 0;
  while (place < places_.size()) {
    if (tries_ <= 0) return {{}, false};
    const std::optional<DeviceIndex> device = FindNext(place, from);
    if (device.has_value()) {
      places_[place] = *device;
      used_[*device] = true;
      while (first_free_ < used_.size() && used_[first_free_]) ++first_free_;
      ++place;
      from = 0;
      continue;
    }
    // The first device stands first in some arrangement, if there is any.
    if (place <= 1) return {};
    --place;
    used_[places_[place]] = false;
    first_free_ = std::min<size_t>(first_free_, places_[place]);
    from = places_[place] + 1;
  }
  return {std::move(places_), true};
}

}  // namespace

Placement PlaceDevices(const Cluster& cluster, const base::Mesh& shape,
                       const std::vector<ClassIndex>& slowest, int64_t& tries) {
  return PlacementSearch(cluster, shape, slowest, tries).Run();
}

}  // namespace meshwright::cluster
