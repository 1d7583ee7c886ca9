#include "coordinator/estimation/noise_interval.h"

#include <algorithm>
#include <cmath>

#include "profiledb/store/row_time.h"
#include "profiledb/store/samples.h"

namespace meshwright::estimation {

double EstimateNoiseNs(const v1::Measurement& measurement) {
  if (measurement.estimate_error_ns() > 0) {
    return static_cast<double>(measurement.estimate_error_ns());
  }
  const auto time = static_cast<double>(store::GetTimeNs(measurement));
  const auto spread = static_cast<double>(measurement.spread_ns());
  const int64_t samples = store::CountSamples(measurement);
  if (samples == 0) return 0;
  if (samples < kEnoughSamples) return std::max(kFewSamples * time, spread);
  return std::max({kNineOfTen * store::EstimateTimeErrorNs(measurement),
                   kResolution * time, spread});
}

problem::NoiseInterval IndependentNoise::Around(
    problem::Picoseconds time) const {
  const problem::Picoseconds noise(
      std::llround(std::min(std::sqrt(squares_) * 1e3, 1e18)));
  return {std::min(noise, time), noise};
}

}  // namespace meshwright::estimation
