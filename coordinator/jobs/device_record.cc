#include "coordinator/jobs/device_record.h"

namespace meshwright::jobs {

v1::DeviceRecord MakeDeviceRecord(const DeviceDescription& device) {
  v1::DeviceRecord record;
  record.set_platform(device.platform);
  record.set_platform_version(device.platform_version);
  record.set_device_kind(device.device_kind);
  record.set_device_count(device.device_count);
  *record.mutable_fingerprint() = device.fingerprint;
  record.set_memory_bytes(device.memory_bytes);
  return record;
}

DeviceDescription ReadDeviceRecord(const v1::DeviceRecord& record) {
  DeviceDescription device;
  device.platform = record.platform();
  device.platform_version = record.platform_version();
  device.device_kind = record.device_kind();
  device.device_count = record.device_count();
  device.fingerprint = record.fingerprint();
  device.memory_bytes = record.memory_bytes();
  return device;
}

}  // namespace meshwright::jobs
