#include "coordinator/audit/stored_audit_log.h"

#include <algorithm>
#include <utility>

#include "base/log/log.h"
#include "profiledb/store/away.h"

namespace meshwright::audit {
namespace {

constexpr size_t kRowsPerWrite = 256;
constexpr absl::Duration kMaxPause = absl::Minutes(1);
constexpr absl::Duration kBetweenRemovals = absl::Hours(24);

}  // namespace

store::AuditRow MakeRow(const security::AuditEntry& entry,
                        const std::string& coordinator) {
  store::AuditRow row;
  row.when = entry.when;
  row.coordinator = coordinator;
  row.who = entry.who;
  row.peer = entry.peer;
  row.what = entry.what;
  row.object = entry.object;
  row.outcome = entry.outcome;
  row.reason = entry.reason;
  return row;
}

StoredAuditLog::StoredAuditLog(Options options)
    : options_(std::move(options)), thread_([this] { Run(); }) {}

StoredAuditLog::~StoredAuditLog() {
  base::MutexLock lock(&mutex_);
  is_over_ = true;
}

bool StoredAuditLog::IsTooMany(const security::AuditEntry& entry) {
  if (entry.outcome == security::kAdmitted) return false;
  const int64_t second = absl::ToUnixSeconds(entry.when);
  if (second != second_) {
    second_ = second;
    refusals_ = 0;
  }
  return ++refusals_ > options_.refusals_per_second;
}

void StoredAuditLog::Record(const security::AuditEntry& entry) {
  if (options_.other != nullptr) options_.other->Record(entry);
  if (entry.is_stored) return;
  base::MutexLock lock(&mutex_);
  if (IsTooMany(entry)) {
    ++left_out_;
    return;
  }
  if (rows_.size() >= options_.waiting) {
    ++lost_;
    return;
  }
  store::AuditRow row = MakeRow(entry, options_.coordinator);
  if (entry.outcome != security::kAdmitted) {
    row.left_out = std::exchange(left_out_, 0);
  }
  rows_.push_back(std::move(row));
}

void StoredAuditLog::Run() {
  const auto is_woken = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return is_over_ || !rows_.empty();
  };
  while (true) {
    std::vector<store::AuditRow> rows;
    int64_t lost = 0;
    {
      base::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&is_woken));
      if (rows_.empty()) return;
      const auto end = rows_.begin() + static_cast<int64_t>(std::min(
                                           rows_.size(), kRowsPerWrite));
      rows.assign(rows_.begin(), end);
      rows_.erase(rows_.begin(), end);
      lost = std::exchange(lost_, 0);
    }
    if (lost > 0) {
      base::LogWarning("audit: ", lost, " rows were lost, as the store took ",
                       "none for a while");
    }
    if (!Write(rows)) return;
    RemoveOld();
  }
}

bool StoredAuditLog::Write(const std::vector<store::AuditRow>& rows) {
  for (absl::Duration pause = options_.pause;;
       pause = std::min(2 * pause, kMaxPause)) {
    const absl::Status status = options_.plans->RecordAudit(rows);
    if (status.ok()) return true;
    const bool is_away = store::IsAway(status) || absl::IsUnavailable(status);
    base::LogWarning("audit: ", rows.size(), " rows ",
                     is_away ? "wait: " : "are lost: ", status.message());
    if (!is_away) return true;
    base::MutexLock lock(&mutex_);
    if (mutex_.AwaitWithTimeout(absl::Condition(&is_over_), pause)) {
      return false;
    }
  }
}

void StoredAuditLog::RemoveOld() {
  const absl::Time now = options_.clock->Now();
  if (now - removed_ < kBetweenRemovals) return;
  removed_ = now;
  const auto removed = options_.plans->RemoveAudit(now - kKept);
  if (!removed.ok()) {
    base::LogWarning("audit: old rows stay: ", removed.status().message());
  }
}

}  // namespace meshwright::audit
