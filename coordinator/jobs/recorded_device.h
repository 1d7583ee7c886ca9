// RecordedDevice: a Measurer for work that measures nothing.
//
// Concept: the keys of programs name the device. A device that is written in a
// plan need not be at hand to look up what was measured on it.
// Errors: Measure gives kFailedPrecondition.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_RECORDED_DEVICE_H_
#define MESHWRIGHT_COORDINATOR_JOBS_RECORDED_DEVICE_H_

#include <utility>

#include "coordinator/jobs/measurer.h"

namespace meshwright::jobs {

class RecordedDevice : public Measurer {
 public:
  explicit RecordedDevice(DeviceDescription device)
      : device_(std::move(device)) {}

  absl::StatusOr<DeviceDescription> Describe(
      const v1::DeviceSpec& /*device*/) override {
    return device_;
  }
  absl::Status Measure(const v1::RunnerRequest& /*request*/,
                       const OnResult& /*on_result*/,
                       const OnStarted& /*on_started*/) override {
    return absl::FailedPreconditionError(
        "nothing is measured here; measure with `meshwright plan`");
  }

 private:
  const DeviceDescription device_;
};

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_RECORDED_DEVICE_H_
