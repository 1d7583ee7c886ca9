#include "profiledb/store/precedence.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "profiledb/store/samples.h"
#include "profiledb/store/summary.h"

namespace meshwright::store {

bool IsFailure(v1::Outcome outcome) {
  return outcome != v1::MEASURED && outcome != v1::PRUNED;
}

bool IsRetried(v1::Outcome outcome, const LookupOptions& options) {
  return (options.retry_failures && IsFailure(outcome)) ||
         (options.retry_time_outs && outcome == v1::TIMED_OUT);
}

int Rank(v1::Outcome outcome) {
  if (outcome == v1::MEASURED) return 2;
  return outcome == v1::PRUNED ? 1 : 0;
}

KeptRow MakeKept(const v1::ProfileResult& result, const Origin& origin) {
  KeptRow row{result, origin};
  if (!result.has_measurement()) return row;
  v1::Measurement& measurement = *row.result.mutable_measurement();
  CompactSamples(measurement);
  ClearSummary(measurement);
  // The judgement of another store's summary, not of this measurement.
  if (measurement.quality() == v1::SUSPECT) measurement.set_quality(v1::NOISY);
  if (row.origin.device_id.empty()) {
    row.origin.device_id = measurement.device_id();
  }
  return row;
}

bool IsSame(const KeptRow& a, const KeptRow& b) {
  const Origin& one = a.origin;
  const Origin& other = b.origin;
  return one.recorded == other.recorded && one.host == other.host &&
         one.worker == other.worker && one.device_id == other.device_id &&
         one.machine == other.machine &&
         a.result.SerializeAsString() == b.result.SerializeAsString();
}

bool Admit(const KeptRow& row, std::vector<KeptRow>& kept, Nanoseconds now) {
  if (!kept.empty()) {
    const int there = Rank(kept.front().result.outcome());
    const int comes = Rank(row.result.outcome());
    if (comes < there) return false;
    for (const KeptRow& it : kept) {
      if (IsSame(it, row)) return false;
    }
    if (comes > there || row.result.outcome() != v1::MEASURED) kept.clear();
  }
  const auto place =
      std::find_if(kept.begin(), kept.end(), [&](const KeptRow& it) {
        return it.origin.recorded <= row.origin.recorded;
      });
  const auto added = kept.insert(place, row);
  if (kept.size() <= kMaximumKept) return true;
  const bool has_future =
      kept.front().origin.recorded > now + std::chrono::minutes(1);
  const auto going = has_future ? kept.begin() : kept.end() - 1;
  const bool has_changed = going != added;
  kept.erase(going);
  return has_changed;
}

std::string_view CutLog(std::string_view log) {
  if (log.size() > kMaximumLogBytes) {
    log.remove_prefix(log.size() - kMaximumLogBytes);
  }
  return log;
}

absl::Status NotQuarantined(const std::string& key) {
  return absl::NotFoundError(
      absl::StrCat("no quarantined program has the key ", key));
}

}  // namespace meshwright::store
