#include "coordinator/jobs/worker_standings.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace meshwright::jobs {
namespace {

constexpr absl::Duration kRemembered = absl::Hours(1);

}  // namespace

void WorkerStandings::AddBarren(const std::string& worker,
                                const std::string& reason, absl::Time now) {
  if (options_.barren_batches == 0) return;
  Standing& standing = standings_[worker];
  ++standing.barren;
  standing.reason = reason;
  standing.changed = now;
  if (standing.barren < options_.barren_batches) return;
  standing.time =
      std::clamp(standing.time * 2, options_.first_time, options_.longest_time);
  standing.until = now + standing.time;
}

std::string WorkerStandings::FindReason(const std::string& worker,
                                        absl::Time now) const {
  const auto found = standings_.find(worker);
  if (found == standings_.end() || found->second.until <= now) return "";
  return absl::StrCat("lost ", found->second.barren,
                      " batches before their first program, and is tried "
                      "again within ",
                      absl::FormatDuration(found->second.time),
                      "; the last one: ", found->second.reason);
}

void WorkerStandings::Expire(absl::Time now) {
  std::erase_if(standings_, [&](const auto& it) {
    return std::max(it.second.until, it.second.changed) + kRemembered <= now;
  });
}

}  // namespace meshwright::jobs
