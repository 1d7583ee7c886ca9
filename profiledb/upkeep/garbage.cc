#include "profiledb/upkeep/garbage.h"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <vector>

#include "absl/types/span.h"
#include "base/status_macros.h"

namespace meshwright::store {
namespace {

constexpr size_t kRowsPerCommit = 1000;

int64_t ToDay(Nanoseconds time) {
  return std::chrono::floor<std::chrono::days>(time).time_since_epoch().count();
}

struct Candidate {
  UnusedRow row;
  int64_t recorded_day = 0;
  int64_t bytes = 0;
  bool goes = false;
};

bool IsTooOld(const Candidate& it, const GarbageLimits& limits, int64_t today) {
  return (limits.maximum_age_days.has_value() &&
          it.recorded_day < today - *limits.maximum_age_days) ||
         (limits.maximum_unused_days.has_value() &&
          it.row.last_used_day < today - *limits.maximum_unused_days);
}

bool IsKept(const Candidate& it, const GarbageLimits& limits) {
  return limits.keep.contains(it.row.key) ||
         limits.plans.keys.contains(it.row.key) ||
         (limits.plans.used_since_day.has_value() &&
          it.row.last_used_day >= *limits.plans.used_since_day);
}

}  // namespace

absl::StatusOr<v1::GcReport> CollectGarbage(ProfileStore& store,
                                            const GarbageLimits& limits,
                                            Nanoseconds now) {
  std::vector<Candidate> rows;
  const auto read = [&](const WholeRow& row) -> absl::Status {
    rows.push_back({.row = {row.team, row.key, row.last_used_day},
                    .recorded_day = ToDay(row.kept.front().origin.recorded),
                    .bytes = row.bytes});
    return {};
  };
  RETURN_IF_ERROR(store.ForEachWhole({.row = read}));
  // The one that was used longest ago comes first.
  std::sort(rows.begin(), rows.end(),
            [](const Candidate& a, const Candidate& b) {
              return std::tie(a.row.last_used_day, a.recorded_day, a.row.key,
                              a.row.team) < std::tie(b.row.last_used_day,
                                                     b.recorded_day, b.row.key,
                                                     b.row.team);
            });
  v1::GcReport report;
  report.set_dry_run(limits.dry_run);
  const int64_t today = ToDay(now);
  int64_t bytes = 0;
  for (const Candidate& it : rows) bytes += it.bytes;
  // By age and use first, so that what the bytes ask for is as little as can
  // be.
  for (const bool by_bytes : {false, true}) {
    for (Candidate& it : rows) {
      const bool should_go = by_bytes
                                 ? limits.maximum_bytes.has_value() &&
                                       bytes > *limits.maximum_bytes && !it.goes
                                 : IsTooOld(it, limits, today);
      if (!should_go) continue;
      if (IsKept(it, limits)) {
        if (!by_bytes || !IsTooOld(it, limits, today)) {
          report.set_kept(report.kept() + 1);
        }
        continue;
      }
      it.goes = true;
      bytes -= it.bytes;
    }
  }
  std::vector<UnusedRow> going;
  for (const Candidate& it : rows) {
    if (it.goes) {
      going.push_back(it.row);
      report.set_bytes(report.bytes() + it.bytes);
    }
  }
  report.set_rows(static_cast<int64_t>(going.size()));
  if (!limits.dry_run) {
    report.set_rows(0);
    for (size_t at = 0; at < going.size(); at += kRowsPerCommit) {
      ASSIGN_OR_RETURN(
          const int64_t removed,
          store.Remove(absl::MakeConstSpan(going).subspan(at, kRowsPerCommit)));
      report.set_rows(report.rows() + removed);
    }
  }
  report.set_rows_left(static_cast<int64_t>(rows.size()) - report.rows());
  report.set_bytes_left(bytes);
  return report;
}

}  // namespace meshwright::store
