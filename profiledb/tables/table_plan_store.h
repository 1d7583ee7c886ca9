// TablePlanStore: the PlanStore over the tables of a database.
//
// Concept: two connections to the database that has the profiles; one writes,
// in group commits, the other reads. A record is stored without its plan, which
// has a column of its own, so that lists stay quick. Checksums tell damaged
// rows from sound ones. A damaged plan that a list or Verify meets is set aside
// by its state, 0, and gives its request id back. Threads and errors: those of
// PlanStore and of Database. See docs/formats/store.md.
#ifndef MESHWRIGHT_PROFILEDB_TABLES_TABLE_PLAN_STORE_H_
#define MESHWRIGHT_PROFILEDB_TABLES_TABLE_PLAN_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "profiledb/store/plan_store.h"
#include "profiledb/tables/database.h"

namespace meshwright::tables {

class TablePlanStore : public store::PlanStore {
 public:
  // Two connections to one database of the newest schema.
  static absl::StatusOr<std::unique_ptr<TablePlanStore>> Create(
      std::unique_ptr<Database> writing, std::unique_ptr<Database> reading);
  ~TablePlanStore() override;

  absl::StatusOr<store::Epoch> BeginEpoch(const std::string& holder) override;
  absl::StatusOr<store::Leader> Lead(const std::string& holder,
                                     store::Epoch mine,
                                     absl::Duration term) override;
  absl::Status StepDown(store::Epoch mine) override;
  using store::PlanStore::Add;
  absl::StatusOr<v1::PlanRecord> Add(const v1::PlanRecord& record,
                                     const store::PlanLimits& limits) override;
  absl::StatusOr<v1::PlanRecord> Get(store::PlanId id) override;
  absl::StatusOr<std::vector<v1::PlanRecord>> List(
      const store::PlanFilter& filter) override;
  absl::StatusOr<std::map<v1::PlanState, int64_t>> CountByState() override;
  absl::StatusOr<v1::PlanRecord> Append(store::Epoch epoch, store::PlanId id,
                                        const v1::PlanUpdate& update) override;
  absl::StatusOr<std::vector<v1::PlanUpdate>> ReadUpdates(store::PlanId id,
                                                          int64_t after,
                                                          int limit) override;
  absl::Status Restore(const v1::PlanRecord& record,
                       absl::Span<const v1::PlanUpdate> updates) override;
  absl::StatusOr<int64_t> Remove(absl::Span<const store::PlanId> ids) override;
  absl::Status RememberDevice(const v1::DeviceRecord& device) override;
  absl::StatusOr<std::vector<v1::DeviceRecord>> ListDevices() override;
  absl::StatusOr<std::vector<store::DamagedPlan>> Verify() override;
  absl::Status SetOrder(std::optional<store::Epoch> epoch,
                        const v1::WorkerOrder& order) override;
  absl::StatusOr<std::vector<v1::WorkerOrder>> ListOrders() override;
  absl::Status RecordAudit(absl::Span<const store::AuditRow> rows) override;
  absl::StatusOr<std::vector<store::AuditRow>> ReadAudit(int64_t after,
                                                         int limit) override;
  absl::StatusOr<std::vector<store::AuditRow>> ReadNewestAudit(
      int limit) override;
  absl::StatusOr<int64_t> RemoveAudit(absl::Time before) override;
  absl::Status SetWorkers(store::Epoch epoch,
                          const store::WorkerChanges& changes) override;
  absl::StatusOr<std::vector<store::WorkerRow>> ListWorkers() override;

 private:
  struct Connection;
  struct Writer;
  struct Reader;

  TablePlanStore(std::unique_ptr<Writer> writer,
                 std::unique_ptr<Reader> reader);
  // Out of all lists; says so in the log. A later look may find them whole.
  void SetAside(const std::vector<store::DamagedPlan>& damaged);

  std::unique_ptr<Writer> writer_;
  std::unique_ptr<Reader> reader_;
};

}  // namespace meshwright::tables

#endif  // MESHWRIGHT_PROFILEDB_TABLES_TABLE_PLAN_STORE_H_
