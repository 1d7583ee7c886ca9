// AssumedDevice: round figures for a device that nobody has measured.
//
// Concept: what the symbolic profile and the op-level plans count with until a
// link table and a device's rates are known. They rank; they predict nothing.
// Units: SI, of one device; links of every mesh axis alike.
#ifndef MESHWRIGHT_COORDINATOR_EXPORT_ASSUMED_DEVICE_H_
#define MESHWRIGHT_COORDINATOR_EXPORT_ASSUMED_DEVICE_H_

#include <string_view>

#include "planner/symbolic/roofline.h"

namespace meshwright::exporting {

struct AssumedDevice {
  symbolic::Device device;
  double link_alpha_seconds = 0;
  double link_beta_seconds_per_byte = 0;
};

// By the kind a plugin gives its devices; anything but a CPU's ("cpu", or none
// known) is taken for a GPU of a data centre.
AssumedDevice AssumeDevice(std::string_view device_kind);

}  // namespace meshwright::exporting

#endif  // MESHWRIGHT_COORDINATOR_EXPORT_ASSUMED_DEVICE_H_
