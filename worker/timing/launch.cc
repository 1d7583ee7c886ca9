#include "worker/timing/launch.h"

#include <algorithm>
#include <cstdint>

namespace meshwright::worker::timing {
namespace {

constexpr int64_t kLeastLeft = 1000;

}  // namespace

void TakeOutLaunch(absl::Duration launch, v1::Measurement& measurement) {
  const int64_t minimum = measurement.minimum_ns();
  const int64_t left = std::min(minimum, std::max(minimum / 10, kLeastLeft));
  const int64_t taken =
      std::clamp<int64_t>(absl::ToInt64Nanoseconds(launch), 0, minimum - left);
  measurement.set_launch_ns(taken);
  measurement.set_minimum_ns(measurement.minimum_ns() - taken);
  measurement.set_median_ns(measurement.median_ns() - taken);
  for (int64_t& sample : *measurement.mutable_samples_ns()) sample -= taken;
}

}  // namespace meshwright::worker::timing
