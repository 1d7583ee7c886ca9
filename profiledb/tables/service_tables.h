// ServiceTables: what a coordinator keeps beside plans: devices, orders, the
// audit log and its workers.
//
// Threads and ownership: those of its database, which outlives it. Writes need
// a transaction around them. Errors: those of Database.
#ifndef MESHWRIGHT_PROFILEDB_TABLES_SERVICE_TABLES_H_
#define MESHWRIGHT_PROFILEDB_TABLES_SERVICE_TABLES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "profiledb/store/audit.h"
#include "profiledb/store/worker_row.h"
#include "profiledb/tables/database.h"
#include "proto/v1/plan_record.pb.h"

namespace meshwright::tables {

class ServiceTables {
 public:
  // Of a database with its schema, which outlives it. Errors here and below:
  // those of the database.
  static absl::StatusOr<std::unique_ptr<ServiceTables>> Open(
      Database& database);

  absl::Status RememberDevice(const v1::DeviceRecord& device);
  // Empty where there are none, here and below.
  absl::StatusOr<std::vector<v1::DeviceRecord>> ListDevices();

  absl::Status SetOrder(const v1::WorkerOrder& order);
  absl::StatusOr<std::vector<v1::WorkerOrder>> ListOrders();

  // A row that is there already stays as it is.
  absl::Status InsertAudit(const store::AuditRow& row);
  // The row of a deed, if there is one, with its change. The scope notes it
  // when the transaction is durable.
  absl::Status InsertDeed(const store::AuditScope* deed,
                          const std::string& object);
  absl::StatusOr<std::vector<store::AuditRow>> ReadAudit(int64_t after,
                                                         int limit);
  // In the order of their numbers.
  absl::StatusOr<std::vector<store::AuditRow>> ReadNewestAudit(int limit);
  // How many went.
  absl::StatusOr<int64_t> RemoveAudit(absl::Time before);

  absl::Status SetWorkers(const store::WorkerChanges& changes);
  absl::StatusOr<std::vector<store::WorkerRow>> ListWorkers();

 private:
  explicit ServiceTables(std::vector<std::unique_ptr<Statement>> statements)
      : statements_(std::move(statements)) {}

  std::vector<std::unique_ptr<Statement>> statements_;
};

}  // namespace meshwright::tables

#endif  // MESHWRIGHT_PROFILEDB_TABLES_SERVICE_TABLES_H_
