#include "coordinator/estimation/time_base.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "profiledb/store/anchor_time.h"
#include "profiledb/store/row_time.h"

namespace meshwright::estimation {
namespace {

// Its picoseconds fit into 64 bits.
constexpr double kMaxNanoseconds = 1e15;

constexpr double kFastest = 0.25;
constexpr double kMiddle = 0.5;

std::vector<int64_t> ListAnchorTimes(const store::Results& rows) {
  std::vector<int64_t> times;
  for (const auto& [key, row] : rows) {
    if (row.outcome() != v1::MEASURED) continue;
    const TimeBase time = store::FindAnchorTime(row.measurement());
    if (time.has_value()) times.push_back(*time);
  }
  return times;
}

// Of an even number the upper one of the middle two.
TimeBase FindQuantile(std::vector<int64_t> times, double share) {
  if (times.empty()) return std::nullopt;
  const auto place =
      times.begin() +
      static_cast<int64_t>(share * static_cast<double>(times.size()));
  std::nth_element(times.begin(), place, times.end());
  return *place;
}

}  // namespace

TimeBase FindFastest(std::vector<int64_t> times) {
  return FindQuantile(std::move(times), kFastest);
}

TimeBase FindFastestAnchor(const store::Results& rows) {
  return FindFastest(ListAnchorTimes(rows));
}

bool IsOfSlowPeriod(const TimeBase& fastest,
                    const v1::Measurement& measurement) {
  const TimeBase own = store::FindAnchorTime(measurement);
  return fastest.has_value() && own.has_value() &&
         static_cast<double>(*own) >
             (1 + kSlowPeriod) * static_cast<double>(*fastest);
}

TimeBase FindTimeBase(const store::Results& rows) {
  return FindQuantile(ListAnchorTimes(rows), kMiddle);
}

void ScaleTimes(double factor, v1::Measurement& it) {
  if (factor == 1) return;
  const auto scale = [&](int64_t nanoseconds) -> int64_t {
    return std::llround(
        std::min(static_cast<double>(nanoseconds) * factor, kMaxNanoseconds));
  };
  it.set_minimum_ns(scale(it.minimum_ns()));
  it.set_median_ns(scale(it.median_ns()));
  it.set_time_ns(scale(it.time_ns()));
  it.set_mad_ns(scale(it.mad_ns()));
  const int64_t time = store::GetTimeNs(it);
  it.set_communication_ns(std::min(scale(it.communication_ns()), time));
  it.set_compute_ns(time - it.communication_ns());
  it.set_spread_ns(scale(it.spread_ns()));
  for (int64_t& sample : *it.mutable_samples_ns()) sample = scale(sample);
  for (int64_t& time : *it.mutable_quantiles_ns()) time = scale(time);
}

void BringToTimeBase(const TimeBase& base, v1::ProfileResult& row) {
  if (row.outcome() != v1::MEASURED) return;
  v1::Measurement& it = *row.mutable_measurement();
  ScaleTimes(store::FindTimeBaseFactor(base, it), it);
}

TimeBase BringToOneTimeBase(store::Results& rows) {
  const TimeBase base = FindTimeBase(rows);
  for (auto& [key, row] : rows) BringToTimeBase(base, row);
  return base;
}

}  // namespace meshwright::estimation
