#include "profiledb/store/samples.h"

#include <algorithm>
#include <vector>

namespace meshwright::store {

void CompactSamples(v1::Measurement& measurement) {
  if (measurement.samples_ns_size() <= kMaximumRawSamples) return;
  std::vector<int64_t> samples(measurement.samples_ns().begin(),
                               measurement.samples_ns().end());
  std::sort(samples.begin(), samples.end());
  const size_t last = samples.size() - 1;
  constexpr size_t kSteps = kQuantiles - 1;
  measurement.clear_quantiles_ns();
  for (size_t i = 0; i <= kSteps; ++i) {
    measurement.add_quantiles_ns(samples[(i * last + kSteps / 2) / kSteps]);
  }
  measurement.set_sample_count(static_cast<int32_t>(samples.size()));
  measurement.mutable_samples_ns()->Assign(
      samples.begin(), samples.begin() + kMaximumRawSamples);
}

int64_t CountSamples(const v1::Measurement& measurement) {
  return measurement.sample_count() > 0 ? measurement.sample_count()
                                        : measurement.samples_ns_size();
}

}  // namespace meshwright::store
