#include "coordinator/estimation/noise_interval.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace meshwright::estimation {

double EstimateNoiseNs(const v1::Measurement& measurement) {
  const double minimum = static_cast<double>(measurement.minimum_ns());
  if (measurement.estimate_error_ns() > 0) {
    return static_cast<double>(measurement.estimate_error_ns());
  }
  if (measurement.samples_ns().empty()) return 0;
  if (measurement.samples_ns_size() < kRank) return kFewSamples * minimum;
  std::vector<int64_t> samples(measurement.samples_ns().begin(),
                               measurement.samples_ns().end());
  const auto kth = samples.begin() + kRank - 1;
  std::nth_element(samples.begin(), kth, samples.end());
  return std::max(static_cast<double>(*kth) - minimum, kResolution * minimum);
}

problem::NoiseInterval IndependentNoise::Around(
    problem::Picoseconds time) const {
  const problem::Picoseconds noise(
      std::llround(std::min(std::sqrt(squares_) * 1e3, 1e18)));
  return {std::min(noise, time), noise};
}

}  // namespace meshwright::estimation
