#include "profiledb/tables/table_plan_store.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/fingerprint.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "profiledb/store/plan_updates.h"
#include "profiledb/tables/group_commit.h"

namespace meshwright::tables {
namespace {

// In the order of kPlanSql.
enum PlanStatement {
  kRaiseEpoch,
  kReadEpoch,
  kEndTerm,
  kFindSubmission,
  kInsertPlan,
  kUnfinished,
  kReadPlan,
  kWriteRecord,
  kInsertUpdate,
  kReadUpdates,
  kInsertDevice,
  kListDevices,
  kSetOrder,
  kDeleteOrder,
  kListOrders,
  kCountByState,
  kRemoveUpdates,
  kRemovePlan
};

constexpr const char* kPlanSql[] = {
    "INSERT INTO epochs (id, epoch, holder) VALUES (1, 1, ?1) ON CONFLICT (id) "
    "DO UPDATE SET epoch = epochs.epoch + 1, holder = excluded.holder, "
    "expires_unix_ms = 0 RETURNING epoch",

    "SELECT epoch FROM epochs WHERE id = 1",

    "UPDATE epochs SET expires_unix_ms = 0 WHERE id = 1 AND epoch = ?1",

    "SELECT id FROM plans WHERE namespace = ?1 AND owner = ?2 AND "
    "request_id = ?3",

    "INSERT INTO plans (namespace, owner, request_id, state, record) "
    "VALUES (?1, ?2, ?3, 0, ?4) RETURNING id",

    // QUEUED to SEARCHING.
    "SELECT record FROM plans WHERE namespace = ?1 AND state BETWEEN 1 AND 5",

    "SELECT record, plan FROM plans WHERE id = ?1",

    "UPDATE plans SET state = ?2, record = ?3, plan = ?4 WHERE id = ?1",

    "INSERT INTO plan_updates (plan, sequence, content) VALUES (?1, ?2, ?3)",

    "SELECT content FROM plan_updates WHERE plan = ?1 AND sequence > ?2 "
    "ORDER BY sequence LIMIT ?3",

    "INSERT INTO devices (digest, content) VALUES (?1, ?2) "
    "ON CONFLICT (digest) DO NOTHING",

    "SELECT content FROM devices ORDER BY digest",

    "INSERT INTO worker_orders (worker, content) VALUES (?1, ?2) "
    "ON CONFLICT (worker) DO UPDATE SET content = excluded.content",

    "DELETE FROM worker_orders WHERE worker = ?1",

    "SELECT content FROM worker_orders ORDER BY worker",

    "SELECT state, COUNT(*) FROM plans GROUP BY state",

    // DONE, FAILED or CANCELLED.
    "DELETE FROM plan_updates WHERE plan = ?1 AND EXISTS "
    "(SELECT 1 FROM plans WHERE id = ?1 AND state >= 6)",

    "DELETE FROM plans WHERE id = ?1 AND state >= 6 RETURNING id",
};

template <typename Message>
absl::StatusOr<Message> Parse(std::string_view bytes, const char* what) {
  Message message;
  if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return message;
  }
  return absl::DataLossError(absl::StrCat(
      "the store has a damaged ", what,
      "; restore the store from a backup, or cancel what is left of the plan"));
}

// Steps to the end; `take` reads one row.
template <typename Take>
absl::Status ForEachRow(Statement& statement, const Take& take) {
  while (true) {
    ASSIGN_OR_RETURN(const bool has_row, statement.Step());
    if (!has_row) return absl::OkStatus();
    RETURN_IF_ERROR(take());
  }
}

// Of a statement that reads one column of serialized messages.
template <typename Message>
absl::StatusOr<std::vector<Message>> ListContents(Statement& list,
                                                  const char* what) {
  const StatementUse use(list);
  std::vector<Message> messages;
  RETURN_IF_ERROR(ForEachRow(list, [&]() -> absl::Status {
    ASSIGN_OR_RETURN(messages.emplace_back(),
                     Parse<Message>(list.View(0), what));
    return absl::OkStatus();
  }));
  return messages;
}

}  // namespace

struct TablePlanStore::Connection {
  static absl::StatusOr<Connection> Open(std::unique_ptr<Database> database) {
    Connection made;
    ASSIGN_OR_RETURN(made.statements, database->PrepareAll(kPlanSql));
    ASSIGN_OR_RETURN(
        made.insert_with_id,
        database->Prepare(absl::StrCat(
            "INSERT INTO plans (id, namespace, owner, request_id, state, "
            "record)",
            database->WithOwnIds(), " VALUES (?1, ?2, ?3, ?4, 0, ?5)")));
    const std::string clock = database->ClockMs();
    ASSIGN_OR_RETURN(made.read_leader,
                     database->Prepare(absl::StrCat(
                         "SELECT epoch, holder, expires_unix_ms - ", clock,
                         " FROM epochs WHERE id = 1")));
    // The epoch rises by ?3: 0 prolongs a term.
    ASSIGN_OR_RETURN(
        made.lead,
        database->Prepare(absl::StrCat(
            "INSERT INTO epochs (id, epoch, holder, expires_unix_ms) VALUES "
            "(1, 1, ?1, ",
            clock,
            " + ?2) ON CONFLICT (id) DO UPDATE SET epoch = epochs.epoch + ?3, "
            "holder = excluded.holder, expires_unix_ms = "
            "excluded.expires_unix_ms RETURNING epoch")));
    made.database = std::move(database);
    return made;
  }

  Statement& Get(PlanStatement statement) { return *statements[statement]; }

  // With its plan.
  absl::StatusOr<v1::PlanRecord> Read(store::PlanId id) {
    Statement& read = Get(kReadPlan);
    const StatementUse use(read);
    read.BindInteger(1, id.value);
    ASSIGN_OR_RETURN(const bool has_row, read.Step());
    if (!has_row) return store::MakeNoSuchPlanError(id);
    ASSIGN_OR_RETURN(v1::PlanRecord record,
                     Parse<v1::PlanRecord>(read.View(0), "plan"));
    if (!read.IsNull(1)) {
      ASSIGN_OR_RETURN(*record.mutable_plan(),
                       Parse<v1::Plan>(read.View(1), "plan"));
    }
    return record;
  }

  // Applies the update to the record and writes both.
  absl::Status Write(store::PlanId id, v1::PlanUpdate update,
                     v1::PlanRecord& record) {
    RETURN_IF_ERROR(store::ApplyUpdate(update, record));
    RETURN_IF_ERROR(WriteRecord(id, record));
    return InsertUpdate(id, std::move(update));
  }

  absl::Status WriteRecord(store::PlanId id, const v1::PlanRecord& record) {
    v1::PlanRecord row = record;
    std::string plan;
    if (row.has_plan()) row.plan().SerializeToString(&plan);
    row.clear_plan();
    const std::string row_bytes = row.SerializeAsString();
    Statement& write = Get(kWriteRecord);
    const StatementUse use(write);
    write.BindInteger(1, id.value);
    write.BindInteger(2, row.state());
    write.BindBlob(3, row_bytes);
    if (record.has_plan()) write.BindBlob(4, plan);
    return write.Run();
  }

  absl::Status InsertUpdate(store::PlanId id, v1::PlanUpdate update) {
    update.clear_plan();
    const std::string update_bytes = update.SerializeAsString();
    Statement& insert = Get(kInsertUpdate);
    const StatementUse use(insert);
    insert.BindInteger(1, id.value);
    insert.BindInteger(2, update.sequence());
    insert.BindBlob(3, update_bytes);
    return insert.Run();
  }

  absl::StatusOr<std::optional<store::PlanId>> FindSubmission(
      const v1::PlanRecord& record) {
    Statement& find = Get(kFindSubmission);
    const StatementUse use(find);
    find.BindText(1, record.namespace_());
    find.BindText(2, record.owner());
    find.BindText(3, record.request_id());
    ASSIGN_OR_RETURN(const bool has_row, find.Step());
    if (!has_row) return std::nullopt;
    return store::PlanId{find.Integer(0)};
  }

  // Sets `refused` where the plan is beyond the limits. Its code is a full
  // disk's too, and a refusal must not undo what others write.
  absl::Status CheckLimits(const v1::PlanRecord& given,
                           const store::PlanLimits& limits,
                           absl::Status& refused) {
    refused = absl::OkStatus();
    if (limits.IsEmpty()) return absl::OkStatus();
    Statement& list = Get(kUnfinished);
    const StatementUse use(list);
    list.BindText(1, given.namespace_());
    std::vector<v1::PlanRecord> unfinished;
    RETURN_IF_ERROR(ForEachRow(list, [&]() -> absl::Status {
      ASSIGN_OR_RETURN(unfinished.emplace_back(),
                       Parse<v1::PlanRecord>(list.View(0), "plan"));
      return absl::OkStatus();
    }));
    refused = store::CheckLimits(limits, given, unfinished);
    return absl::OkStatus();
  }

  absl::StatusOr<v1::PlanRecord> Add(const v1::PlanRecord& given,
                                     const store::PlanLimits& limits,
                                     absl::Status& refused) {
    if (!given.request_id().empty()) {
      ASSIGN_OR_RETURN(const auto known, FindSubmission(given));
      if (known.has_value()) return Read(*known);
    }
    RETURN_IF_ERROR(CheckLimits(given, limits, refused));
    if (!refused.ok()) return given;
    store::PlanId id;
    {
      Statement& insert = Get(kInsertPlan);
      const StatementUse use(insert);
      insert.BindText(1, given.namespace_());
      insert.BindText(2, given.owner());
      if (!given.request_id().empty()) insert.BindText(3, given.request_id());
      insert.BindBlob(4, "");
      ASSIGN_OR_RETURN(const bool has_row, insert.Step());
      if (!has_row) return absl::InternalError("a plan was not written");
      id.value = insert.Integer(0);
      RETURN_IF_ERROR(insert.Run());
    }
    v1::PlanRecord record = given;
    record.set_id(store::FormatPlanId(id));
    record.set_state(v1::PLAN_STATE_UNSPECIFIED);
    RETURN_IF_ERROR(Write(id, store::MakeQueuedUpdate(given), record));
    return record;
  }

  absl::StatusOr<v1::PlanUpdate> ReadUpdate(store::PlanId id,
                                            int64_t sequence) {
    Statement& read = Get(kReadUpdates);
    const StatementUse use(read);
    read.BindInteger(1, id.value);
    read.BindInteger(2, sequence - 1);
    read.BindInteger(3, 1);
    ASSIGN_OR_RETURN(const bool has_row, read.Step());
    return Parse<v1::PlanUpdate>(has_row ? read.View(0) : "\xff",
                                 "update of a plan");
  }

  // Returns whether there is anything to write.
  absl::StatusOr<bool> Restore(const v1::PlanRecord& record,
                               absl::Span<const v1::PlanUpdate> updates) {
    ASSIGN_OR_RETURN(const store::PlanId id, store::ParsePlanId(record.id()));
    int64_t written = 0;
    const auto there = Read(id);
    if (there.ok()) {
      written = there->sequence();
      ASSIGN_OR_RETURN(const v1::PlanUpdate newest, ReadUpdate(id, written));
      RETURN_IF_ERROR(store::CheckContinues(*there, newest, record, updates));
      if (written >= record.sequence()) return false;
    } else if (!absl::IsNotFound(there.status())) {
      return there.status();
    } else {
      if (!record.request_id().empty()) {
        ASSIGN_OR_RETURN(const auto known, FindSubmission(record));
        if (known.has_value()) return store::MakeRequestIdTakenError(record);
      }
      {
        Statement& insert = *insert_with_id;
        const StatementUse use(insert);
        insert.BindInteger(1, id.value);
        insert.BindText(2, record.namespace_());
        insert.BindText(3, record.owner());
        if (!record.request_id().empty()) {
          insert.BindText(4, record.request_id());
        }
        insert.BindBlob(5, "");
        RETURN_IF_ERROR(insert.Run());
      }
      RETURN_IF_ERROR(database->PassIds("plans"));
    }
    RETURN_IF_ERROR(WriteRecord(id, record));
    for (const v1::PlanUpdate& update : updates.subspan(written)) {
      RETURN_IF_ERROR(InsertUpdate(id, update));
    }
    return true;
  }

  absl::StatusOr<store::Leader> Lead(const std::string& holder,
                                     store::Epoch mine, absl::Duration term) {
    store::Leader leader;
    bool prolongs = false;
    {
      const StatementUse use(*read_leader);
      ASSIGN_OR_RETURN(const bool has_row, read_leader->Step());
      if (has_row) {
        leader.epoch = store::Epoch{read_leader->Integer(0)};
        leader.holder = read_leader->Bytes(1);
        prolongs = leader.epoch == mine;
        const int64_t left = read_leader->Integer(2);
        const bool lasts = left > 0 && left <= absl::ToInt64Milliseconds(term);
        if (!prolongs && lasts) return leader;
      }
    }
    const StatementUse use(*lead);
    lead->BindText(1, holder);
    lead->BindInteger(2, absl::ToInt64Milliseconds(term));
    lead->BindInteger(3, prolongs ? 0 : 1);
    ASSIGN_OR_RETURN(const bool has_row, lead->Step());
    if (!has_row) return absl::InternalError("an epoch was not written");
    leader = {store::Epoch{lead->Integer(0)}, holder, true};
    RETURN_IF_ERROR(lead->Run());
    return leader;
  }

  absl::StatusOr<std::vector<v1::PlanUpdate>> ReadUpdates(store::PlanId id,
                                                          int64_t after,
                                                          int limit) {
    std::vector<v1::PlanUpdate> updates;
    {
      Statement& read = Get(kReadUpdates);
      const StatementUse use(read);
      read.BindInteger(1, id.value);
      read.BindInteger(2, after);
      read.BindInteger(3, std::max(limit, 0));
      RETURN_IF_ERROR(ForEachRow(read, [&]() -> absl::Status {
        ASSIGN_OR_RETURN(
            updates.emplace_back(),
            Parse<v1::PlanUpdate>(read.View(0), "update of a plan"));
        return absl::OkStatus();
      }));
    }
    if (updates.empty() || updates.back().state() == v1::DONE) {
      ASSIGN_OR_RETURN(v1::PlanRecord record, Read(id));
      if (!updates.empty()) {
        *updates.back().mutable_plan() = std::move(*record.mutable_plan());
      }
    }
    return updates;
  }

  // Whether it was there, and had ended.
  absl::StatusOr<bool> Remove(store::PlanId id) {
    {
      Statement& updates = Get(kRemoveUpdates);
      const StatementUse use(updates);
      updates.BindInteger(1, id.value);
      RETURN_IF_ERROR(updates.Run());
    }
    Statement& plan = Get(kRemovePlan);
    const StatementUse use(plan);
    plan.BindInteger(1, id.value);
    ASSIGN_OR_RETURN(const bool had_it, plan.Step());
    if (had_it) RETURN_IF_ERROR(plan.Run());
    return had_it;
  }

  absl::Status CheckEpoch(store::Epoch epoch) {
    Statement& read = Get(kReadEpoch);
    const StatementUse use(read);
    ASSIGN_OR_RETURN(const bool has_row, read.Step());
    if (!has_row || read.Integer(0) != epoch.value) {
      return store::MakeOldEpochError();
    }
    return absl::OkStatus();
  }

  std::unique_ptr<Database> database;
  std::vector<std::unique_ptr<Statement>> statements;
  std::unique_ptr<Statement> insert_with_id;
  std::unique_ptr<Statement> read_leader;
  std::unique_ptr<Statement> lead;
};

struct TablePlanStore::Writer {
  explicit Writer(Connection opened)
      : connection(std::move(opened)),
        commits([this](const GroupCommit::Work& work) {
          return connection.database->Transact(Access::kWrite, work);
        }) {}

  // Runs `work` in a transaction that others may share: an answer that is no
  // failure of the disk must not undo theirs.
  template <typename Value, typename Work>
  absl::StatusOr<Value> Commit(const Work& work) {
    absl::StatusOr<Value> answer = absl::InternalError("nothing was written");
    RETURN_IF_ERROR(commits.Write([&]() -> absl::Status {
      answer = work(connection);
      const bool is_answer = answer.ok() || absl::IsNotFound(answer.status()) ||
                             absl::IsAborted(answer.status()) ||
                             absl::IsAlreadyExists(answer.status()) ||
                             absl::IsFailedPrecondition(answer.status());
      return is_answer ? absl::OkStatus() : answer.status();
    }));
    return answer;
  }

  Connection connection;
  GroupCommit commits;
};

struct TablePlanStore::Reader {
  explicit Reader(Connection opened) : connection(std::move(opened)) {}

  // All that `work` reads is of one moment. The transaction connects again
  // where the server was lost.
  template <typename Value, typename Work>
  absl::StatusOr<Value> Read(const Work& work) {
    const base::MutexLock lock(&mutex);
    absl::StatusOr<Value> answer = absl::InternalError("nothing was read");
    RETURN_IF_ERROR(
        connection.database->Transact(Access::kRead, [&]() -> absl::Status {
          answer = work(connection);
          return answer.status();
        }));
    return answer;
  }

  base::Mutex mutex;
  Connection connection;
};

TablePlanStore::TablePlanStore(std::unique_ptr<Writer> writer,
                               std::unique_ptr<Reader> reader)
    : writer_(std::move(writer)), reader_(std::move(reader)) {}

TablePlanStore::~TablePlanStore() = default;

absl::StatusOr<std::unique_ptr<TablePlanStore>> TablePlanStore::Create(
    std::unique_ptr<Database> writing, std::unique_ptr<Database> reading) {
  ASSIGN_OR_RETURN(Connection writer, Connection::Open(std::move(writing)));
  ASSIGN_OR_RETURN(Connection reader, Connection::Open(std::move(reading)));
  return std::unique_ptr<TablePlanStore>(
      new TablePlanStore(std::make_unique<Writer>(std::move(writer)),
                         std::make_unique<Reader>(std::move(reader))));
}

absl::StatusOr<store::Epoch> TablePlanStore::BeginEpoch(
    const std::string& holder) {
  return writer_->Commit<store::Epoch>(
      [&](Connection& connection) -> absl::StatusOr<store::Epoch> {
        Statement& raise = connection.Get(kRaiseEpoch);
        const StatementUse use(raise);
        raise.BindText(1, holder);
        ASSIGN_OR_RETURN(const bool has_row, raise.Step());
        if (!has_row) return absl::InternalError("an epoch was not written");
        const store::Epoch epoch{raise.Integer(0)};
        RETURN_IF_ERROR(raise.Run());
        return epoch;
      });
}

absl::StatusOr<store::Leader> TablePlanStore::Lead(const std::string& holder,
                                                   store::Epoch mine,
                                                   absl::Duration term) {
  return writer_->Commit<store::Leader>([&](Connection& connection) {
    return connection.Lead(holder, mine, term);
  });
}

absl::Status TablePlanStore::StepDown(store::Epoch mine) {
  return writer_
      ->Commit<bool>([&](Connection& connection) -> absl::StatusOr<bool> {
        Statement& end = connection.Get(kEndTerm);
        const StatementUse use(end);
        end.BindInteger(1, mine.value);
        RETURN_IF_ERROR(end.Run());
        return true;
      })
      .status();
}

absl::StatusOr<v1::PlanRecord> TablePlanStore::Add(
    const v1::PlanRecord& record, const store::PlanLimits& limits) {
  absl::Status refused;
  ASSIGN_OR_RETURN(v1::PlanRecord added,
                   writer_->Commit<v1::PlanRecord>([&](Connection& connection) {
                     return connection.Add(record, limits, refused);
                   }));
  RETURN_IF_ERROR(refused);
  return added;
}

absl::StatusOr<v1::PlanRecord> TablePlanStore::Get(store::PlanId id) {
  return reader_->Read<v1::PlanRecord>(
      [&](Connection& connection) { return connection.Read(id); });
}

absl::StatusOr<std::vector<v1::PlanRecord>> TablePlanStore::List(
    const store::PlanFilter& filter) {
  const std::string states = absl::StrJoin(
      filter.states, ", ", [](std::string* out, v1::PlanState state) {
        absl::StrAppend(out, static_cast<int>(state));
      });
  constexpr int kFirstTeam = 4;
  std::string teams;
  for (size_t i = 0; i < filter.teams.size(); ++i) {
    absl::StrAppend(&teams, i == 0 ? "?" : ", ?", kFirstTeam + i);
  }
  const std::string sql = absl::StrCat(
      "SELECT record FROM plans WHERE (CAST(?1 AS BIGINT) = 0 OR "
      "id < CAST(?1 AS BIGINT)) AND (?2 = '' OR owner = ?2)",
      states.empty() ? "" : absl::StrCat(" AND state IN (", states, ")"),
      teams.empty() ? "" : absl::StrCat(" AND namespace IN (", teams, ")"),
      " ORDER BY id DESC LIMIT ?3");
  using Records = std::vector<v1::PlanRecord>;
  return reader_->Read<Records>(
      [&](Connection& connection) -> absl::StatusOr<Records> {
        ASSIGN_OR_RETURN(const std::unique_ptr<Statement> prepared,
                         connection.database->Prepare(sql));
        Statement& list = *prepared;
        list.BindInteger(1, filter.before.value);
        list.BindText(2, filter.owner);
        list.BindInteger(3, std::max(filter.limit, 0));
        for (size_t i = 0; i < filter.teams.size(); ++i) {
          list.BindText(kFirstTeam + static_cast<int>(i), filter.teams[i]);
        }
        Records records;
        RETURN_IF_ERROR(ForEachRow(list, [&]() -> absl::Status {
          ASSIGN_OR_RETURN(records.emplace_back(),
                           Parse<v1::PlanRecord>(list.View(0), "plan"));
          return absl::OkStatus();
        }));
        return records;
      });
}

absl::StatusOr<std::map<v1::PlanState, int64_t>>
TablePlanStore::CountByState() {
  using Counts = std::map<v1::PlanState, int64_t>;
  return reader_->Read<Counts>(
      [&](Connection& connection) -> absl::StatusOr<Counts> {
        Statement& count = connection.Get(kCountByState);
        const StatementUse use(count);
        Counts counts;
        RETURN_IF_ERROR(ForEachRow(count, [&]() -> absl::Status {
          counts[static_cast<v1::PlanState>(count.Integer(0))] =
              count.Integer(1);
          return absl::OkStatus();
        }));
        return counts;
      });
}

absl::StatusOr<v1::PlanRecord> TablePlanStore::Append(
    store::Epoch epoch, store::PlanId id, const v1::PlanUpdate& update) {
  return writer_->Commit<v1::PlanRecord>(
      [&](Connection& connection) -> absl::StatusOr<v1::PlanRecord> {
        RETURN_IF_ERROR(connection.CheckEpoch(epoch));
        ASSIGN_OR_RETURN(v1::PlanRecord record, connection.Read(id));
        RETURN_IF_ERROR(connection.Write(id, update, record));
        record.clear_plan();
        return record;
      });
}

absl::StatusOr<std::vector<v1::PlanUpdate>> TablePlanStore::ReadUpdates(
    store::PlanId id, int64_t after, int limit) {
  return reader_->Read<std::vector<v1::PlanUpdate>>(
      [&](Connection& connection) {
        return connection.ReadUpdates(id, after, limit);
      });
}

absl::Status TablePlanStore::Restore(const v1::PlanRecord& record,
                                     absl::Span<const v1::PlanUpdate> updates) {
  RETURN_IF_ERROR(store::CheckWhole(record, updates));
  return writer_
      ->Commit<bool>([&](Connection& connection) {
        return connection.Restore(record, updates);
      })
      .status();
}

absl::StatusOr<int64_t> TablePlanStore::Remove(
    absl::Span<const store::PlanId> ids) {
  return writer_->Commit<int64_t>(
      [&](Connection& connection) -> absl::StatusOr<int64_t> {
        int64_t removed = 0;
        for (const store::PlanId id : ids) {
          ASSIGN_OR_RETURN(const bool had_it, connection.Remove(id));
          removed += had_it ? 1 : 0;
        }
        return removed;
      });
}

absl::Status TablePlanStore::RememberDevice(const v1::DeviceRecord& device) {
  const std::string content = device.SerializeAsString();
  const std::string digest = base::Sha256Hex(content);
  return writer_
      ->Commit<bool>([&](Connection& connection) -> absl::StatusOr<bool> {
        Statement& insert = connection.Get(kInsertDevice);
        const StatementUse use(insert);
        insert.BindText(1, digest);
        insert.BindBlob(2, content);
        RETURN_IF_ERROR(insert.Run());
        return true;
      })
      .status();
}

absl::StatusOr<std::vector<v1::DeviceRecord>> TablePlanStore::ListDevices() {
  return reader_->Read<std::vector<v1::DeviceRecord>>(
      [](Connection& connection) {
        return ListContents<v1::DeviceRecord>(connection.Get(kListDevices),
                                              "device");
      });
}

absl::Status TablePlanStore::SetOrder(const v1::WorkerOrder& order) {
  const std::string content = order.SerializeAsString();
  const bool holds = order.kind() != v1::WorkerOrder::RESUME;
  return writer_
      ->Commit<bool>([&](Connection& connection) -> absl::StatusOr<bool> {
        Statement& write = connection.Get(holds ? kSetOrder : kDeleteOrder);
        const StatementUse use(write);
        write.BindText(1, order.worker());
        if (holds) write.BindBlob(2, content);
        RETURN_IF_ERROR(write.Run());
        return true;
      })
      .status();
}

absl::StatusOr<std::vector<v1::WorkerOrder>> TablePlanStore::ListOrders() {
  return reader_->Read<std::vector<v1::WorkerOrder>>(
      [](Connection& connection) {
        return ListContents<v1::WorkerOrder>(connection.Get(kListOrders),
                                             "order of a worker");
      });
}

}  // namespace meshwright::tables
