#include "profiledb/store/memory_plan_store.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "profiledb/store/plan_updates.h"

namespace meshwright::store {
namespace {

// It is of one process, which a log of any length would fill.
constexpr size_t kMaximumAudit = 10'000;

template <typename Value>
bool Admits(const std::vector<Value>& allowed, const Value& value) {
  return allowed.empty() ||
         std::find(allowed.begin(), allowed.end(), value) != allowed.end();
}

bool IsSameSubmission(const v1::PlanRecord& a, const v1::PlanRecord& b) {
  return !a.request_id().empty() && a.request_id() == b.request_id() &&
         a.namespace_() == b.namespace_() && a.owner() == b.owner();
}

}  // namespace

absl::StatusOr<Epoch> MemoryPlanStore::BeginEpoch(const std::string& holder) {
  base::MutexLock lock(&mutex_);
  ++epoch_.value;
  holder_ = holder;
  term_ends_ = absl::InfinitePast();
  return epoch_;
}

absl::StatusOr<Leader> MemoryPlanStore::Lead(const std::string& holder,
                                             Epoch mine, absl::Duration term) {
  const absl::Time now = clock_ != nullptr ? clock_->Now() : absl::Now();
  base::MutexLock lock(&mutex_);
  const bool prolongs = epoch_.value != 0 && epoch_ == mine;
  const bool lasts = now < term_ends_ && term_ends_ - now <= term;
  if (!prolongs && lasts) return Leader{epoch_, holder_, false};
  if (!prolongs) ++epoch_.value;
  holder_ = holder;
  term_ends_ = now + term;
  return Leader{epoch_, holder_, true};
}

absl::Status MemoryPlanStore::StepDown(Epoch mine) {
  base::MutexLock lock(&mutex_);
  if (epoch_ == mine) term_ends_ = absl::InfinitePast();
  return absl::OkStatus();
}

absl::StatusOr<v1::PlanRecord> MemoryPlanStore::Add(
    const v1::PlanRecord& record, const PlanLimits& limits) {
  base::MutexLock lock(&mutex_);
  std::vector<v1::PlanRecord> plans;
  for (const auto& [id, kept] : plans_) {
    if (IsSameSubmission(kept.record, record)) {
      RETURN_IF_ERROR(CheckIsSame(record, kept.record));
      WriteDeed(kept.record.id());
      return kept.record;
    }
    if (kept.record.namespace_() == record.namespace_()) {
      plans.push_back(kept.record);
    }
  }
  RETURN_IF_ERROR(CheckLimits(limits, record, plans));
  if (!plans_.empty()) newest_ = std::max(newest_, plans_.rbegin()->first);
  const PlanId id{newest_.value + 1};
  newest_ = id;
  Kept kept{.record = record};
  kept.record.set_id(FormatPlanId(id));
  kept.record.set_state(v1::PLAN_STATE_UNSPECIFIED);
  v1::PlanUpdate queued = MakeQueuedUpdate(record);
  RETURN_IF_ERROR(ApplyUpdate(queued, kept.record));
  kept.updates.push_back(std::move(queued));
  WriteDeed(kept.record.id());
  return plans_.emplace(id, std::move(kept)).first->second.record;
}

absl::StatusOr<v1::PlanRecord> MemoryPlanStore::Get(PlanId id) {
  base::MutexLock lock(&mutex_);
  const auto found = plans_.find(id);
  if (found == plans_.end()) return MakeNoSuchPlanError(id);
  return found->second.record;
}

absl::StatusOr<std::vector<v1::PlanRecord>> MemoryPlanStore::List(
    const PlanFilter& filter) {
  base::MutexLock lock(&mutex_);
  std::vector<v1::PlanRecord> records;
  for (auto it = plans_.rbegin(); it != plans_.rend(); ++it) {
    const auto& [id, kept] = *it;
    if (static_cast<int>(records.size()) == filter.limit) break;
    if (filter.before.value != 0 && !(id < filter.before)) continue;
    if (!Admits(filter.states, kept.record.state())) continue;
    if (!Admits(filter.teams, kept.record.namespace_())) continue;
    if (!filter.owner.empty() && filter.owner != kept.record.owner()) continue;
    records.push_back(kept.record);
    records.back().clear_plan();
  }
  return records;
}

absl::StatusOr<std::map<v1::PlanState, int64_t>>
MemoryPlanStore::CountByState() {
  base::MutexLock lock(&mutex_);
  std::map<v1::PlanState, int64_t> counts;
  for (const auto& [id, kept] : plans_) ++counts[kept.record.state()];
  return counts;
}

absl::StatusOr<v1::PlanRecord> MemoryPlanStore::Append(
    Epoch epoch, PlanId id, const v1::PlanUpdate& update) {
  base::MutexLock lock(&mutex_);
  if (epoch != epoch_) return MakeOldEpochError();
  const auto found = plans_.find(id);
  if (found == plans_.end()) return MakeNoSuchPlanError(id);
  v1::PlanUpdate numbered = update;
  RETURN_IF_ERROR(ApplyUpdate(numbered, found->second.record));
  found->second.updates.push_back(std::move(numbered));
  WriteDeed(FormatPlanId(id));
  v1::PlanRecord record = found->second.record;
  record.clear_plan();
  return record;
}

absl::StatusOr<std::vector<v1::PlanUpdate>> MemoryPlanStore::ReadUpdates(
    PlanId id, int64_t after, int limit) {
  base::MutexLock lock(&mutex_);
  const auto found = plans_.find(id);
  if (found == plans_.end()) return MakeNoSuchPlanError(id);
  const std::vector<v1::PlanUpdate>& all = found->second.updates;
  const auto count = static_cast<int64_t>(all.size());
  const int64_t begin = std::clamp<int64_t>(after, 0, count);
  const int64_t end = std::min<int64_t>(count, begin + std::max(limit, 0));
  return std::vector<v1::PlanUpdate>(all.begin() + begin, all.begin() + end);
}

absl::Status MemoryPlanStore::Restore(
    const v1::PlanRecord& record, absl::Span<const v1::PlanUpdate> updates) {
  ASSIGN_OR_RETURN(const PlanId id, ParsePlanId(record.id()));
  RETURN_IF_ERROR(CheckWhole(record, updates));
  base::MutexLock lock(&mutex_);
  const auto found = plans_.find(id);
  if (found != plans_.end()) {
    const Kept& there = found->second;
    RETURN_IF_ERROR(
        CheckContinues(there.record, there.updates.back(), record, updates));
    if (there.record.sequence() >= record.sequence()) return absl::OkStatus();
  } else {
    for (const auto& [other, kept] : plans_) {
      if (IsSameSubmission(kept.record, record)) {
        return MakeRequestIdTakenError(record);
      }
    }
  }
  plans_[id] = {record, {updates.begin(), updates.end()}};
  return absl::OkStatus();
}

absl::StatusOr<int64_t> MemoryPlanStore::Remove(absl::Span<const PlanId> ids) {
  base::MutexLock lock(&mutex_);
  int64_t removed = 0;
  for (const PlanId id : ids) {
    const auto found = plans_.find(id);
    if (found == plans_.end() || !HasEnded(found->second.record.state())) {
      continue;
    }
    newest_ = std::max(newest_, id);
    plans_.erase(found);
    ++removed;
  }
  return removed;
}

absl::Status MemoryPlanStore::RememberDevice(const v1::DeviceRecord& device) {
  base::MutexLock lock(&mutex_);
  devices_.emplace(device.SerializeAsString(), device);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<v1::DeviceRecord>> MemoryPlanStore::ListDevices() {
  base::MutexLock lock(&mutex_);
  std::vector<v1::DeviceRecord> devices;
  for (const auto& [key, device] : devices_) devices.push_back(device);
  return devices;
}

absl::Status MemoryPlanStore::SetOrder(std::optional<Epoch> epoch,
                                       const v1::WorkerOrder& order) {
  base::MutexLock lock(&mutex_);
  if (epoch.has_value() && *epoch != epoch_) return MakeOldEpochError();
  if (order.kind() == v1::WorkerOrder::RESUME) {
    orders_.erase(order.worker());
  } else {
    orders_[order.worker()] = order;
  }
  WriteDeed(order.worker());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<v1::WorkerOrder>> MemoryPlanStore::ListOrders() {
  base::MutexLock lock(&mutex_);
  std::vector<v1::WorkerOrder> orders;
  for (const auto& [worker, order] : orders_) orders.push_back(order);
  return orders;
}

void MemoryPlanStore::WriteDeed(const std::string& object) {
  AuditScope* const deed = AuditScope::FindOpen();
  if (deed == nullptr) return;
  InsertAudit(deed->MakeRow(object));
  deed->NoteWritten();
}

void MemoryPlanStore::InsertAudit(const AuditRow& row) {
  if (!audit_digests_.insert(DigestAudit(row)).second) return;
  AuditRow& added = audit_[++newest_audit_];
  added = row;
  added.number = newest_audit_;
  if (audit_.size() <= kMaximumAudit) return;
  audit_digests_.erase(DigestAudit(audit_.begin()->second));
  audit_.erase(audit_.begin());
}

absl::Status MemoryPlanStore::RecordAudit(absl::Span<const AuditRow> rows) {
  base::MutexLock lock(&mutex_);
  for (const AuditRow& row : rows) InsertAudit(CleanAudit(row));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<AuditRow>> MemoryPlanStore::ReadAudit(int64_t after,
                                                                 int limit) {
  base::MutexLock lock(&mutex_);
  std::vector<AuditRow> rows;
  for (auto it = audit_.upper_bound(after);
       it != audit_.end() && std::ssize(rows) < limit; ++it) {
    rows.push_back(it->second);
  }
  return rows;
}

absl::StatusOr<std::vector<AuditRow>> MemoryPlanStore::ReadNewestAudit(
    int limit) {
  base::MutexLock lock(&mutex_);
  std::vector<AuditRow> rows;
  for (auto it = audit_.rbegin();
       it != audit_.rend() && std::ssize(rows) < limit; ++it) {
    rows.push_back(it->second);
  }
  std::reverse(rows.begin(), rows.end());
  return rows;
}

absl::StatusOr<int64_t> MemoryPlanStore::RemoveAudit(absl::Time before) {
  base::MutexLock lock(&mutex_);
  return static_cast<int64_t>(std::erase_if(
      audit_, [&](const auto& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        if (entry.second.when >= before) return false;
        audit_digests_.erase(DigestAudit(entry.second));
        return true;
      }));
}

absl::Status MemoryPlanStore::SetWorkers(Epoch epoch,
                                         const WorkerChanges& changes) {
  base::MutexLock lock(&mutex_);
  if (epoch != epoch_) return MakeOldEpochError();
  for (const std::string& worker : changes.removed) workers_.erase(worker);
  for (const WorkerRow& row : changes.written) workers_[row.worker] = row;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<WorkerRow>> MemoryPlanStore::ListWorkers() {
  base::MutexLock lock(&mutex_);
  std::vector<WorkerRow> rows;
  for (const auto& [worker, row] : workers_) rows.push_back(row);
  return rows;
}

}  // namespace meshwright::store
