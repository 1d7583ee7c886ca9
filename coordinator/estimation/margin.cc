#include "coordinator/estimation/margin.h"

#include <algorithm>
#include <cmath>

namespace meshwright::estimation {

double FindDeviation(std::vector<double> deviations) {
  if (deviations.empty()) return 0;
  const size_t rank = (deviations.size() * 4 + 4) / 5;
  const auto at = deviations.begin() + static_cast<std::ptrdiff_t>(rank) - 1;
  std::nth_element(deviations.begin(), at, deviations.end());
  return *at;
}

double FindMargin(const std::vector<double>& deviations) {
  const bool is_enough = deviations.size() >= kEnoughCompared;
  const double min_margin = is_enough ? kMinMargin : kFirstMargin;
  if (deviations.empty()) return min_margin;
  const double error = 1 / std::sqrt(static_cast<double>(deviations.size()));
  return std::max(min_margin, kTail * (1 + error) * FindDeviation(deviations));
}

}  // namespace meshwright::estimation
