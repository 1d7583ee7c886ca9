#include "coordinator/jobs/device_digest.h"

#include <cstdint>
#include <string_view>

#include "base/fingerprint.h"

namespace meshwright::jobs {
namespace {

void Add(base::Fingerprinter& print, std::string_view name,
         const std::string& value) {
  if (!value.empty()) print.Add(name).Add(value);
}

void Add(base::Fingerprinter& print, std::string_view name, int64_t value) {
  if (value != 0) print.Add(name).Add(value);
}

}  // namespace

std::string DigestFingerprint(const v1::DeviceFingerprint& fingerprint) {
  if (fingerprint.ByteSizeLong() == 0) return "";
  base::Fingerprinter print;
  Add(print, "platform", fingerprint.platform());
  Add(print, "kind", fingerprint.device_kind());
  Add(print, "devices per host", fingerprint.devices_per_host());
  Add(print, "memory", fingerprint.memory_gib());
  Add(print, "driver", fingerprint.driver_version());
  Add(print, "plugin", fingerprint.plugin());
  Add(print, "links", fingerprint.link_class());
  Add(print, "hosts", fingerprint.hosts());
  Add(print, "partitioned", fingerprint.partitioned() ? 1 : 0);
  Add(print, "power limit", fingerprint.power_limit_watts());
  Add(print, "clocks", fingerprint.clock_policy());
  Add(print, "processor", fingerprint.processor());
  for (const std::string& set : fingerprint.instruction_sets()) {
    Add(print, "instruction set", set);
  }
  Add(print, "cores", fingerprint.cores());
  Add(print, "NUMA nodes", fingerprint.numa_nodes());
  Add(print, "flags", fingerprint.xla_flags());
  Add(print, "libraries", fingerprint.libraries());
  Add(print, "solo", fingerprint.solo() ? 1 : 0);
  return print.Hex();
}

}  // namespace meshwright::jobs
