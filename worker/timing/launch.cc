#include "worker/timing/launch.h"

#include <algorithm>
#include <cstdint>

namespace meshwright::worker::timing {
namespace {

constexpr absl::Duration kLeastLeft = absl::Microseconds(1);

}  // namespace

void TakeOutLaunch(absl::Duration launch, v1::Measurement& measurement) {
  const int64_t taken = absl::ToInt64Nanoseconds(launch);
  measurement.set_launch_ns(taken);
  measurement.set_minimum_ns(measurement.minimum_ns() - taken);
  measurement.set_median_ns(measurement.median_ns() - taken);
  if (measurement.time_ns() > 0) {
    measurement.set_time_ns(measurement.time_ns() - taken);
  }
  for (int64_t& sample : *measurement.mutable_samples_ns()) sample -= taken;
}

absl::Duration LimitLaunch(absl::Duration launch,
                           const v1::Measurement& measurement) {
  const absl::Duration minimum = absl::Nanoseconds(measurement.minimum_ns());
  const absl::Duration left = std::max(minimum / 10, kLeastLeft);
  return std::clamp(launch, absl::ZeroDuration(),
                    std::max(minimum - left, absl::ZeroDuration()));
}

}  // namespace meshwright::worker::timing
