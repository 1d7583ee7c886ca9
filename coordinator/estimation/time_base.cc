#include "coordinator/estimation/time_base.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace meshwright::estimation {

TimeBase FindTimeBase(const store::Results& rows) {
  std::map<std::string, std::vector<int64_t>> times;
  for (const auto& [key, row] : rows) {
    for (const v1::AnchorTime& anchor : row.measurement().anchors()) {
      if (anchor.minimum_ns() > 0) {
        times[anchor.name()].push_back(anchor.minimum_ns());
      }
    }
  }
  TimeBase base;
  for (auto& [name, all] : times) {
    const auto middle = all.begin() + static_cast<int64_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    base[name] = *middle;
  }
  return base;
}

double FindTimeBaseFactor(const TimeBase& base,
                          const v1::Measurement& measurement) {
  double logarithms = 0;
  int count = 0;
  for (const v1::AnchorTime& anchor : measurement.anchors()) {
    const auto found = base.find(anchor.name());
    if (found == base.end() || anchor.minimum_ns() <= 0) continue;
    logarithms += std::log(static_cast<double>(found->second) /
                           static_cast<double>(anchor.minimum_ns()));
    ++count;
  }
  if (count == 0) return 1;
  const double factor = std::exp(logarithms / count);
  if (std::abs(factor - 1) <= kSteady) return 1;
  return std::clamp(factor, 1 / kMaxTimeBaseFactor, kMaxTimeBaseFactor);
}

void BringToTimeBase(const TimeBase& base, v1::ProfileResult& row) {
  if (row.outcome() != v1::MEASURED) return;
  v1::Measurement& it = *row.mutable_measurement();
  const double factor = FindTimeBaseFactor(base, it);
  if (factor == 1) return;
  const auto scale = [&](int64_t nanoseconds) -> int64_t {
    return std::llround(static_cast<double>(nanoseconds) * factor);
  };
  it.set_minimum_ns(scale(it.minimum_ns()));
  it.set_median_ns(scale(it.median_ns()));
  it.set_mad_ns(scale(it.mad_ns()));
  it.set_communication_ns(
      std::min(scale(it.communication_ns()), it.minimum_ns()));
  it.set_compute_ns(it.minimum_ns() - it.communication_ns());
  for (int64_t& sample : *it.mutable_samples_ns()) sample = scale(sample);
}

}  // namespace meshwright::estimation
