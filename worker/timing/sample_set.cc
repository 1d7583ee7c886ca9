#include "worker/timing/sample_set.h"

#include <algorithm>
#include <cmath>

namespace meshwright::worker::timing {
namespace {

// As profiledb/store/row_time.h, kMedianErrorOfMad.
constexpr double kErrorOfMad = 1.858;

double CpuShare(const Sample& sample) {
  if (sample.wall <= absl::ZeroDuration()) return 0;
  return absl::FDivDuration(sample.cpu, sample.wall);
}

absl::Duration Median(std::vector<absl::Duration> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

// Of sorted values, between two of them by their distance.
absl::Duration Quantile(const std::vector<absl::Duration>& sorted,
                        double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] +
         (sorted[above] - sorted[below]) * (place - static_cast<double>(below));
}

}  // namespace

absl::Duration FindLowOfMeans(const std::vector<absl::Duration>& samples,
                              int count) {
  if (samples.empty()) return absl::ZeroDuration();
  const auto width =
      std::clamp<size_t>(static_cast<size_t>(count), 1, samples.size());
  std::vector<absl::Duration> means;
  for (size_t first = 0; first + width <= samples.size(); ++first) {
    absl::Duration sum;
    for (size_t i = first; i < first + width; ++i) sum += samples[i];
    means.push_back(sum / static_cast<double>(width));
  }
  std::sort(means.begin(), means.end());
  return Quantile(means, kLow);
}

Summary SampleSet::Summarize(double slow_share) const {
  Summary summary;
  if (samples_.empty()) return summary;
  std::vector<double> shares;
  for (const Sample& sample : samples_) shares.push_back(CpuShare(sample));
  std::sort(shares.begin(), shares.end());
  const double usual = shares[(shares.size() - 1) * 3 / 4];
  for (const Sample& sample : samples_) {
    if (CpuShare(sample) < slow_share * usual) {
      ++summary.dropped;
    } else {
      summary.kept.push_back(sample.wall);
    }
  }
  std::vector<absl::Duration> sorted = summary.kept;
  std::sort(sorted.begin(), sorted.end());
  summary.minimum = sorted[0];
  summary.low = Quantile(sorted, kLow);
  summary.median = Median(sorted);
  for (absl::Duration& value : sorted) {
    value = absl::AbsDuration(value - summary.median);
  }
  summary.mad = Median(std::move(sorted));
  if (summary.median > absl::ZeroDuration()) {
    summary.error = kErrorOfMad *
                    absl::FDivDuration(summary.mad, summary.median) /
                    std::sqrt(static_cast<double>(summary.kept.size()));
  }
  return summary;
}

}  // namespace meshwright::worker::timing
