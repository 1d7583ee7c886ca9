#include "planner/symbolic/roofline.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace meshwright::symbolic {

absl::Status Validate(const Device& device) {
  const std::pair<const char*, double> rates[] = {
      {"flops_per_second", device.flops_per_second},
      {"bytes_per_second", device.bytes_per_second},
      {"flops_per_transcendental", device.flops_per_transcendental}};
  for (const auto& [name, rate] : rates) {
    if (!std::isfinite(rate) || rate <= 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("device.", std::string(name), " is ", rate,
                       ", not a number above 0"));
    }
  }
  return absl::OkStatus();
}

problem::Picoseconds EstimateByRoofline(const Counts& counts,
                                        int64_t traffic_bytes,
                                        const Device& device) {
  const double flops = static_cast<double>(counts.flops) +
                       static_cast<double>(counts.transcendentals) *
                           device.flops_per_transcendental;
  const double seconds =
      std::max(flops / device.flops_per_second,
               static_cast<double>(traffic_bytes) / device.bytes_per_second);
  if (seconds >= problem::ToSeconds(problem::kMaxTime)) {
    return problem::kMaxTime;
  }
  return problem::Picoseconds(std::llrint(seconds * 1e12));
}

}  // namespace meshwright::symbolic
