#include "profiledb/store/summary.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "profiledb/store/anchor_time.h"
#include "profiledb/store/check_row.h"
#include "profiledb/store/row_time.h"

namespace meshwright::store {
namespace {

int64_t Time(const KeptRow& row) { return GetTimeNs(row.result.measurement()); }

// The mean of the middle two of an even number.
double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  if (values.size() % 2 == 1) return values[half];
  return (values[half - 1] + values[half]) / 2;
}

std::vector<size_t> Counted(absl::Span<const KeptRow> kept) {
  std::vector<size_t> good;
  std::vector<size_t> all;
  for (size_t i = 0; i < kept.size(); ++i) {
    all.push_back(i);
    if (kept[i].result.measurement().quality() == v1::GOOD) good.push_back(i);
  }
  return good.empty() ? all : good;
}

// The median of the anchors.
std::optional<int64_t> FindBase(absl::Span<const KeptRow> kept) {
  std::vector<double> anchors;
  for (const KeptRow& row : kept) {
    const auto anchor = FindAnchorTime(row.result.measurement());
    if (anchor.has_value()) anchors.push_back(static_cast<double>(*anchor));
  }
  if (anchors.empty()) return std::nullopt;
  return std::llround(Median(std::move(anchors)));
}

bool IsSuspect(const std::vector<double>& times,
               const std::vector<size_t>& counted, size_t it) {
  std::vector<double> others;
  for (const size_t i : counted) {
    if (i != it) others.push_back(times[i]);
  }
  if (others.size() < 2) return false;
  const double median = Median(others);
  for (double& other : others) other = std::abs(other - median);
  const double deviation = kDeviationOfMad * Median(others);
  return std::abs(times[it] - median) >
         std::max(kSuspectShare * median, kSuspectDeviations * deviation);
}

}  // namespace

Summary Summarize(absl::Span<const KeptRow> kept) {
  Summary summary;
  summary.is_suspect.resize(kept.size());
  const std::optional<int64_t> base = FindBase(kept);
  std::vector<double> times;  // on it
  for (const KeptRow& row : kept) {
    times.push_back(static_cast<double>(Time(row)) *
                    FindTimeBaseFactor(base, row.result.measurement()));
  }
  const std::vector<size_t> counted = Counted(kept);
  std::vector<size_t> best;
  for (const size_t i : counted) {
    summary.is_suspect[i] = IsSuspect(times, counted, i);
    if (!summary.is_suspect[i]) best.push_back(i);
  }
  const bool all_suspect = best.empty();
  if (all_suspect) best = counted;
  std::stable_sort(best.begin(), best.end(), [&](size_t a, size_t b) {
    return Time(kept[a]) < Time(kept[b]);
  });
  summary.chosen = best[(best.size() - 1) / 2];
  // Of equals the newest, which stands first.
  const int64_t time = Time(kept[summary.chosen]);
  summary.chosen = *std::find_if(best.begin(), best.end(), [&](size_t i) {
    return Time(kept[i]) == time;
  });
  const v1::Measurement& chosen = kept[summary.chosen].result.measurement();
  summary.quality = all_suspect ? v1::SUSPECT : chosen.quality();
  const auto [low, high] = std::minmax_element(
      best.begin(), best.end(),
      [&](size_t a, size_t b) { return times[a] < times[b]; });
  // As the times of the one chosen are.
  const double distance =
      (times[*high] - times[*low]) / FindTimeBaseFactor(base, chosen);
  // A longer one would make the summary a damaged row (check_row.h).
  summary.spread_ns =
      std::min(kMaximumExecutionNs,
               std::max<int64_t>(std::llround(distance / 2),
                                 std::llround(EstimateTimeErrorNs(chosen))));
  return summary;
}

bool IsDisturbed(const v1::Measurement& measurement) {
  return std::any_of(
      measurement.noise().begin(), measurement.noise().end(),
      [](int it) { return it == v1::BUSY_MACHINE || it == v1::THROTTLED; });
}

Answer MakeAnswer(absl::Span<const KeptRow> kept) {
  if (kept.front().result.outcome() != v1::MEASURED) {
    return {.chosen = 0, .result = kept.front().result};
  }
  const Summary summary = Summarize(kept);
  Answer answer{.chosen = summary.chosen,
                .result = kept[summary.chosen].result};
  v1::Measurement& measurement = *answer.result.mutable_measurement();
  measurement.set_quality(summary.quality);
  measurement.set_spread_ns(summary.spread_ns);
  measurement.set_undisturbed(static_cast<int>(
      std::count_if(kept.begin(), kept.end(), [](const KeptRow& row) {
        return !IsDisturbed(row.result.measurement());
      })));
  measurement.set_recorded_unix_ns(
      kept.front().origin.recorded.time_since_epoch().count());
  return answer;
}

void ClearSummary(v1::Measurement& measurement) {
  measurement.clear_spread_ns();
  measurement.clear_undisturbed();
  measurement.clear_recorded_unix_ns();
}

void MarkSuspects(std::vector<KeptRow>& kept) {
  if (kept.empty() || kept.front().result.outcome() != v1::MEASURED) return;
  const Summary summary = Summarize(kept);
  for (size_t i = 0; i < kept.size(); ++i) {
    if (!summary.is_suspect[i]) continue;
    kept[i].result.mutable_measurement()->set_quality(v1::SUSPECT);
  }
}

}  // namespace meshwright::store
