#include "coordinator/plans/worker_rows.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "profiledb/store/text.h"

namespace meshwright::plans {
namespace {

store::WorkerRow MakeRow(const v1::WorkerSummary& worker, absl::Time now) {
  store::WorkerRow row;
  row.worker = worker.id();
  row.host = store::CleanText(worker.host());
  row.platform = store::CleanText(worker.platform());
  row.device_kind = store::CleanText(worker.device_kind());
  row.device_count = worker.device_count();
  row.reason = store::CleanText(worker.reason());
  row.seen = absl::FromUnixNanos(
      absl::ToUnixNanos(now - absl::Seconds(worker.seen_seconds_ago())));
  return row;
}

v1::WorkerSummary MakeSummary(const store::WorkerRow& row, absl::Time now,
                              v1::WorkerSummary::State state,
                              const std::string& reason) {
  v1::WorkerSummary worker;
  worker.set_id(row.worker);
  worker.set_host(row.host);
  worker.set_platform(row.platform);
  worker.set_device_kind(row.device_kind);
  worker.set_device_count(row.device_count);
  worker.set_state(state);
  worker.set_seen_seconds_ago(
      std::max(0.0, absl::ToDoubleSeconds(now - row.seen)));
  worker.set_reason(reason);
  return worker;
}

// Of a row, but when it was seen.
bool SaysTheSame(store::WorkerRow a, const store::WorkerRow& b) {
  a.seen = b.seen;
  return a == b;
}

}  // namespace

absl::Status WorkerRows::Begin(store::Epoch epoch) {
  base::MutexLock writing(&writing_);
  ASSIGN_OR_RETURN(const std::vector<store::WorkerRow> rows,
                   plans_->ListWorkers());
  leads_ = true;
  epoch_ = epoch;
  began_ = steady_->Now();
  next_ = began_;
  written_.clear();
  Rows missing;
  const absl::Time now = clock_->Now();
  for (const store::WorkerRow& row : rows) {
    written_[row.worker] = row;
    if (now - row.seen < kForgotten) missing[row.worker] = row;
  }
  base::MutexLock lock(&mutex_);
  missing_ = std::move(missing);
  return absl::OkStatus();
}

void WorkerRows::End() {
  base::MutexLock writing(&writing_);
  leads_ = false;
  base::MutexLock lock(&mutex_);
  missing_.clear();
}

bool WorkerRows::IsDue() const {
  base::MutexLock writing(&writing_);
  return leads_ && steady_->Now() >= next_;
}

store::WorkerChanges WorkerRows::FindChanges(
    const std::vector<v1::WorkerSummary>& attached) {
  const absl::Time now = clock_->Now();
  store::WorkerChanges changes;
  std::set<std::string> there;
  for (const v1::WorkerSummary& worker : attached) {
    // A database does not take every name.
    if (!store::IsText(worker.id()) ||
        worker.id().size() > store::kMaximumTextBytes) {
      continue;
    }
    there.insert(worker.id());
    store::WorkerRow row = MakeRow(worker, now);
    const auto before = written_.find(row.worker);
    if (before == written_.end() || !SaysTheSame(row, before->second) ||
        row.seen - before->second.seen >= kBetweenSights) {
      changes.written.push_back(std::move(row));
    }
  }
  base::MutexLock lock(&mutex_);
  std::erase_if(missing_,
                [&](const auto& entry) { return there.contains(entry.first); });
  if (steady_->Now() - began_ >= kAwaited) missing_.clear();
  for (const auto& [name, row] : written_) {
    if (!there.contains(name) && !missing_.contains(name)) {
      changes.removed.push_back(name);
    }
  }
  return changes;
}

absl::Status WorkerRows::Save(const std::vector<v1::WorkerSummary>& attached) {
  base::MutexLock writing(&writing_);
  if (!leads_) return absl::OkStatus();
  next_ = steady_->Now() + kBetweenSaves;
  const store::WorkerChanges changes = FindChanges(attached);
  if (changes.IsEmpty()) return absl::OkStatus();
  RETURN_IF_ERROR(plans_->SetWorkers(epoch_, changes));
  for (const std::string& worker : changes.removed) written_.erase(worker);
  for (const store::WorkerRow& row : changes.written) {
    written_[row.worker] = row;
  }
  return absl::OkStatus();
}

std::vector<v1::WorkerSummary> WorkerRows::AddMissing(
    std::vector<v1::WorkerSummary> attached) const {
  const absl::Time now = clock_->Now();
  std::set<std::string> there;
  for (const v1::WorkerSummary& worker : attached) there.insert(worker.id());
  base::MutexLock lock(&mutex_);
  for (const auto& [name, row] : missing_) {
    if (there.contains(name)) continue;
    attached.push_back(MakeSummary(
        row, now, v1::WorkerSummary::AWAY,
        "has not come back since this coordinator began to run the plans"));
  }
  return attached;
}

absl::StatusOr<std::vector<v1::WorkerSummary>> ReadWorkers(
    store::PlanStore& plans, absl::Time now, const std::string& leader) {
  ASSIGN_OR_RETURN(const std::vector<store::WorkerRow> rows,
                   plans.ListWorkers());
  const std::string reason =
      leader.empty()
          ? "no coordinator leads now, which alone knows its state"
          : absl::StrCat("the leader, ", leader, ", alone knows its state");
  std::vector<v1::WorkerSummary> workers;
  for (const store::WorkerRow& row : rows) {
    if (now - row.seen >= WorkerRows::kForgotten) continue;
    workers.push_back(MakeSummary(row, now,
                                  v1::WorkerSummary::STATE_UNSPECIFIED,
                                  row.reason.empty() ? reason : row.reason));
  }
  return workers;
}

}  // namespace meshwright::plans
