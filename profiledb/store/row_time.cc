#include "profiledb/store/row_time.h"

#include <cmath>

#include "profiledb/store/samples.h"

namespace meshwright::store {
namespace {

template <typename T>
int64_t GetTime(const T& it) {
  if (it.time_ns() > 0) return it.time_ns();
  return it.median_ns() > 0 ? it.median_ns() : it.minimum_ns();
}

}  // namespace

int64_t GetTimeNs(const v1::Measurement& measurement) {
  return GetTime(measurement);
}

int64_t GetTimeNs(const v1::AnchorTime& anchor) { return GetTime(anchor); }

double EstimateTimeErrorNs(const v1::Measurement& measurement) {
  const int64_t samples = CountSamples(measurement);
  if (samples == 0) return 0;
  const double error =
      measurement.time_ns() > 0 ? kLowErrorOfMad : kMedianErrorOfMad;
  return error * static_cast<double>(measurement.mad_ns()) /
         std::sqrt(static_cast<double>(samples));
}

}  // namespace meshwright::store
