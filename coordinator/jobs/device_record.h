// DeviceDescription as it is stored, and back.
//
// Threads: pure functions. Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_DEVICE_RECORD_H_
#define MESHWRIGHT_COORDINATOR_JOBS_DEVICE_RECORD_H_

#include "coordinator/jobs/measurer.h"
#include "proto/v1/plan_record.pb.h"

namespace meshwright::jobs {

v1::DeviceRecord MakeDeviceRecord(const DeviceDescription& device);
DeviceDescription ReadDeviceRecord(const v1::DeviceRecord& record);

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_DEVICE_RECORD_H_
