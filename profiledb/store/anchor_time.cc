#include "profiledb/store/anchor_time.h"

#include <algorithm>

#include "profiledb/store/row_time.h"

namespace meshwright::store {

std::optional<int64_t> FindAnchorTime(const v1::Measurement& measurement) {
  for (const v1::AnchorTime& anchor : measurement.anchors()) {
    if (anchor.name() == kSpeedAnchor && GetTimeNs(anchor) > 0) {
      return GetTimeNs(anchor);
    }
  }
  return std::nullopt;
}

double FindTimeBaseFactor(const std::optional<int64_t>& base,
                          const v1::Measurement& measurement) {
  const auto own = FindAnchorTime(measurement);
  if (!base.has_value() || !own.has_value()) return 1;
  return std::clamp(static_cast<double>(*base) / static_cast<double>(*own),
                    1 / kMaxTimeBaseFactor, kMaxTimeBaseFactor);
}

}  // namespace meshwright::store
