#include "profiledb/tables/service_tables.h"

#include <algorithm>
#include <string_view>

#include "base/fingerprint.h"
#include "base/log/log.h"
#include "base/status_macros.h"

namespace meshwright::tables {
namespace {

// In the order of kServiceSql.
enum ServiceStatement {
  kInsertDevice,
  kListDevices,
  kSetOrder,
  kDeleteOrder,
  kListOrders,
  kInsertAudit,
  kReadAudit,
  kReadNewestAudit,
  kRemoveAudit,
  kSetWorker,
  kRemoveWorker,
  kListWorkers
};

constexpr const char* kServiceSql[] = {
    "INSERT INTO devices (digest, content) VALUES (?1, ?2) "
    "ON CONFLICT (digest) DO NOTHING",

    "SELECT content FROM devices ORDER BY digest",

    "INSERT INTO worker_orders (worker, content) VALUES (?1, ?2) "
    "ON CONFLICT (worker) DO UPDATE SET content = excluded.content",

    "DELETE FROM worker_orders WHERE worker = ?1",

    "SELECT content FROM worker_orders ORDER BY worker",

    "INSERT INTO audit (digest, unix_ns, coordinator, who, peer, what, object, "
    "outcome, reason, left_out) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, "
    "?10) ON CONFLICT (digest) DO NOTHING",

    "SELECT id, unix_ns, coordinator, who, peer, what, object, outcome, "
    "reason, left_out FROM audit WHERE id > ?1 ORDER BY id LIMIT ?2",

    "SELECT id, unix_ns, coordinator, who, peer, what, object, outcome, "
    "reason, left_out FROM audit ORDER BY id DESC LIMIT ?1",

    "DELETE FROM audit WHERE unix_ns < ?1 RETURNING id",

    "INSERT INTO workers (worker, host, platform, device_kind, device_count, "
    "reason, seen_unix_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) "
    "ON CONFLICT (worker) DO UPDATE SET host = excluded.host, "
    "platform = excluded.platform, device_kind = excluded.device_kind, "
    "device_count = excluded.device_count, reason = excluded.reason, "
    "seen_unix_ns = excluded.seen_unix_ns",

    "DELETE FROM workers WHERE worker = ?1",

    "SELECT worker, host, platform, device_kind, device_count, reason, "
    "seen_unix_ns FROM workers ORDER BY worker",
};

// Of a statement that reads one column of serialized messages. A coordinator
// can do without a damaged one.
template <typename Message>
absl::StatusOr<std::vector<Message>> ListContents(Statement& list,
                                                  const char* what) {
  const StatementUse use(list);
  std::vector<Message> messages;
  RETURN_IF_ERROR(ForEachRow(list, [&] {
    const std::string_view bytes = list.View(0);
    if (!messages.emplace_back().ParseFromArray(
            bytes.data(), static_cast<int>(bytes.size()))) {
      messages.pop_back();
      base::LogWarning("store: left out a damaged ", what,
                       "; state it again where it is missed");
    }
    return absl::OkStatus();
  }));
  return messages;
}

absl::StatusOr<std::vector<store::AuditRow>> ReadAuditRows(Statement& read) {
  std::vector<store::AuditRow> rows;
  RETURN_IF_ERROR(ForEachRow(read, [&] {
    store::AuditRow& row = rows.emplace_back();
    row.number = read.Integer(0);
    row.when = absl::FromUnixNanos(read.Integer(1));
    row.coordinator = read.Bytes(2);
    row.who = read.Bytes(3);
    row.peer = read.Bytes(4);
    row.what = read.Bytes(5);
    row.object = read.Bytes(6);
    row.outcome = read.Bytes(7);
    row.reason = read.Bytes(8);
    row.left_out = read.Integer(9);
    return absl::OkStatus();
  }));
  return rows;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ServiceTables>> ServiceTables::Open(
    Database& database) {
  ASSIGN_OR_RETURN(std::vector<std::unique_ptr<Statement>> statements,
                   database.PrepareAll(kServiceSql));
  return std::unique_ptr<ServiceTables>(
      new ServiceTables(std::move(statements)));
}

absl::Status ServiceTables::RememberDevice(const v1::DeviceRecord& device) {
  const std::string content = device.SerializeAsString();
  const std::string digest = base::Sha256Hex(content);
  Statement& insert = *statements_[kInsertDevice];
  const StatementUse use(insert);
  insert.BindText(1, digest);
  insert.BindBlob(2, content);
  return insert.Run();
}

absl::StatusOr<std::vector<v1::DeviceRecord>> ServiceTables::ListDevices() {
  return ListContents<v1::DeviceRecord>(*statements_[kListDevices], "device");
}

absl::Status ServiceTables::SetOrder(const v1::WorkerOrder& order) {
  const std::string content = order.SerializeAsString();
  const bool holds = order.kind() != v1::WorkerOrder::RESUME;
  Statement& write = *statements_[holds ? kSetOrder : kDeleteOrder];
  const StatementUse use(write);
  write.BindText(1, order.worker());
  if (holds) write.BindBlob(2, content);
  return write.Run();
}

absl::StatusOr<std::vector<v1::WorkerOrder>> ServiceTables::ListOrders() {
  return ListContents<v1::WorkerOrder>(*statements_[kListOrders],
                                       "order of a worker");
}

absl::Status ServiceTables::InsertAudit(const store::AuditRow& given) {
  const store::AuditRow row = store::CleanAudit(given);
  const std::string digest = store::DigestAudit(row);
  Statement& insert = *statements_[kInsertAudit];
  const StatementUse use(insert);
  insert.BindText(1, digest);
  insert.BindInteger(2, absl::ToUnixNanos(row.when));
  insert.BindText(3, row.coordinator);
  insert.BindText(4, row.who);
  insert.BindText(5, row.peer);
  insert.BindText(6, row.what);
  insert.BindText(7, row.object);
  insert.BindText(8, row.outcome);
  insert.BindText(9, row.reason);
  insert.BindInteger(10, row.left_out);
  return insert.Run();
}

absl::Status ServiceTables::InsertDeed(const store::AuditScope* deed,
                                       const std::string& object) {
  if (deed == nullptr) return absl::OkStatus();
  return InsertAudit(deed->MakeRow(object));
}

absl::StatusOr<std::vector<store::AuditRow>> ServiceTables::ReadAudit(
    int64_t after, int limit) {
  Statement& read = *statements_[kReadAudit];
  const StatementUse use(read);
  read.BindInteger(1, after);
  read.BindInteger(2, std::max(limit, 0));
  return ReadAuditRows(read);
}

absl::StatusOr<std::vector<store::AuditRow>> ServiceTables::ReadNewestAudit(
    int limit) {
  Statement& read = *statements_[kReadNewestAudit];
  const StatementUse use(read);
  read.BindInteger(1, std::max(limit, 0));
  ASSIGN_OR_RETURN(std::vector<store::AuditRow> rows, ReadAuditRows(read));
  std::reverse(rows.begin(), rows.end());
  return rows;
}

absl::StatusOr<int64_t> ServiceTables::RemoveAudit(absl::Time before) {
  Statement& remove = *statements_[kRemoveAudit];
  const StatementUse use(remove);
  remove.BindInteger(1, absl::ToUnixNanos(before));
  int64_t removed = 0;
  RETURN_IF_ERROR(ForEachRow(remove, [&] {
    ++removed;
    return absl::OkStatus();
  }));
  return removed;
}

absl::Status ServiceTables::SetWorkers(const store::WorkerChanges& changes) {
  for (const std::string& worker : changes.removed) {
    Statement& remove = *statements_[kRemoveWorker];
    const StatementUse use(remove);
    remove.BindText(1, worker);
    RETURN_IF_ERROR(remove.Run());
  }
  for (const store::WorkerRow& row : changes.written) {
    Statement& set = *statements_[kSetWorker];
    const StatementUse use(set);
    set.BindText(1, row.worker);
    set.BindText(2, row.host);
    set.BindText(3, row.platform);
    set.BindText(4, row.device_kind);
    set.BindInteger(5, row.device_count);
    set.BindText(6, row.reason);
    set.BindInteger(7, absl::ToUnixNanos(row.seen));
    RETURN_IF_ERROR(set.Run());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<store::WorkerRow>> ServiceTables::ListWorkers() {
  Statement& list = *statements_[kListWorkers];
  const StatementUse use(list);
  std::vector<store::WorkerRow> rows;
  RETURN_IF_ERROR(ForEachRow(list, [&] {
    store::WorkerRow& row = rows.emplace_back();
    row.worker = list.Bytes(0);
    row.host = list.Bytes(1);
    row.platform = list.Bytes(2);
    row.device_kind = list.Bytes(3);
    row.device_count = static_cast<int>(list.Integer(4));
    row.reason = list.Bytes(5);
    row.seen = absl::FromUnixNanos(list.Integer(6));
    return absl::OkStatus();
  }));
  return rows;
}

}  // namespace meshwright::tables
