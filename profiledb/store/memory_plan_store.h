// MemoryPlanStore: the PlanStore of a coordinator that ends with its process,
// as `meshwright plan` starts one.
//
// Threads and errors: those of PlanStore; nothing is durable.
#ifndef MESHWRIGHT_PROFILEDB_STORE_MEMORY_PLAN_STORE_H_
#define MESHWRIGHT_PROFILEDB_STORE_MEMORY_PLAN_STORE_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "profiledb/store/plan_store.h"

namespace meshwright::store {

class MemoryPlanStore : public PlanStore {
 public:
  // `clock` outlives the store; null: the system's.
  explicit MemoryPlanStore(const base::Clock* clock = nullptr)
      : clock_(clock) {}

  absl::StatusOr<Epoch> BeginEpoch(const std::string& holder) override;
  absl::StatusOr<Leader> Lead(const std::string& holder, Epoch mine,
                              absl::Duration term) override;
  absl::Status StepDown(Epoch mine) override;
  using PlanStore::Add;
  absl::StatusOr<v1::PlanRecord> Add(const v1::PlanRecord& record,
                                     const PlanLimits& limits) override;
  absl::StatusOr<v1::PlanRecord> Get(PlanId id) override;
  absl::StatusOr<std::vector<v1::PlanRecord>> List(
      const PlanFilter& filter) override;
  absl::StatusOr<std::map<v1::PlanState, int64_t>> CountByState() override;
  absl::StatusOr<v1::PlanRecord> Append(Epoch epoch, PlanId id,
                                        const v1::PlanUpdate& update) override;
  absl::StatusOr<std::vector<v1::PlanUpdate>> ReadUpdates(PlanId id,
                                                          int64_t after,
                                                          int limit) override;
  absl::Status Restore(const v1::PlanRecord& record,
                       absl::Span<const v1::PlanUpdate> updates) override;
  absl::StatusOr<int64_t> Remove(absl::Span<const PlanId> ids) override;
  absl::Status RememberDevice(const v1::DeviceRecord& device) override;
  absl::StatusOr<std::vector<v1::DeviceRecord>> ListDevices() override;
  absl::StatusOr<std::vector<DamagedPlan>> Verify() override {
    return std::vector<DamagedPlan>();
  }
  absl::Status SetOrder(std::optional<Epoch> epoch,
                        const v1::WorkerOrder& order) override;
  absl::StatusOr<std::vector<v1::WorkerOrder>> ListOrders() override;
  absl::Status RecordAudit(absl::Span<const AuditRow> rows) override;
  absl::StatusOr<std::vector<AuditRow>> ReadAudit(int64_t after,
                                                  int limit) override;
  absl::StatusOr<std::vector<AuditRow>> ReadNewestAudit(int limit) override;
  absl::StatusOr<int64_t> RemoveAudit(absl::Time before) override;
  absl::Status SetWorkers(Epoch epoch, const WorkerChanges& changes) override;
  absl::StatusOr<std::vector<WorkerRow>> ListWorkers() override;

 private:
  struct Kept {
    v1::PlanRecord record;
    std::vector<v1::PlanUpdate> updates;
  };

  // The row of an open scope, with a change about `object`.
  void WriteDeed(const std::string& object)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void InsertAudit(const AuditRow& row) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const base::Clock* const clock_;
  base::Mutex mutex_;
  Epoch epoch_ ABSL_GUARDED_BY(mutex_);
  std::string holder_ ABSL_GUARDED_BY(mutex_);
  absl::Time term_ends_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  std::map<PlanId, Kept> plans_ ABSL_GUARDED_BY(mutex_);
  PlanId newest_ ABSL_GUARDED_BY(mutex_);  // also where it was removed
  std::map<std::string, v1::DeviceRecord> devices_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, v1::WorkerOrder> orders_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, WorkerRow> workers_ ABSL_GUARDED_BY(mutex_);
  // By number; so many at the most (kMaximumAudit).
  std::map<int64_t, AuditRow> audit_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> audit_digests_ ABSL_GUARDED_BY(mutex_);
  int64_t newest_audit_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_STORE_MEMORY_PLAN_STORE_H_
