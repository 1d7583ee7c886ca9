// SqlitePlanStore: the PlanStore in the file of a profile store.
//
// Concept: connections of its own on the same file; one writes, in group
// commits, the other reads. A record is stored without its plan, which has a
// column of its own, so that lists stay quick.
// Errors of opening: those of SqliteProfileStore. See docs/formats/store.md.
#ifndef MESHWRIGHT_PROFILEDB_SQLITE_SQLITE_PLAN_STORE_H_
#define MESHWRIGHT_PROFILEDB_SQLITE_SQLITE_PLAN_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "profiledb/store/plan_store.h"

namespace meshwright::sqlite {

class SqlitePlanStore : public store::PlanStore {
 public:
  static absl::StatusOr<std::unique_ptr<SqlitePlanStore>> Open(
      const std::string& path);
  ~SqlitePlanStore() override;

  absl::StatusOr<store::Epoch> BeginEpoch(const std::string& holder) override;
  absl::StatusOr<v1::PlanRecord> Add(const v1::PlanRecord& record) override;
  absl::StatusOr<v1::PlanRecord> Get(store::PlanId id) override;
  absl::StatusOr<std::vector<v1::PlanRecord>> List(
      const store::PlanFilter& filter) override;
  absl::StatusOr<v1::PlanRecord> Append(store::Epoch epoch, store::PlanId id,
                                        const v1::PlanUpdate& update) override;
  absl::StatusOr<std::vector<v1::PlanUpdate>> ReadUpdates(store::PlanId id,
                                                          int64_t after,
                                                          int limit) override;
  absl::Status RememberDevice(const v1::DeviceRecord& device) override;
  absl::StatusOr<std::vector<v1::DeviceRecord>> ListDevices() override;

 private:
  struct Connection;
  struct Writer;
  struct Reader;

  SqlitePlanStore(std::unique_ptr<Writer> writer,
                  std::unique_ptr<Reader> reader);

  std::unique_ptr<Writer> writer_;
  std::unique_ptr<Reader> reader_;
};

}  // namespace meshwright::sqlite

#endif  // MESHWRIGHT_PROFILEDB_SQLITE_SQLITE_PLAN_STORE_H_
