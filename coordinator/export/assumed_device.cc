#include "coordinator/export/assumed_device.h"

namespace meshwright::exporting {

AssumedDevice AssumeDevice(std::string_view device_kind) {
  if (device_kind.empty() || device_kind == "cpu") {
    // One virtual device of a few cores; a link is a copy and a rendezvous.
    return {
        {.flops_per_second = 5e10, .bytes_per_second = 1e10}, 20e-6, 1 / 5e9};
  }
  return {
      {.flops_per_second = 1e14, .bytes_per_second = 2e12}, 10e-6, 1 / 100e9};
}

}  // namespace meshwright::exporting
