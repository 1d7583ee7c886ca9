#include "profiledb/tables/table_plan_store.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/log/log.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "profiledb/store/plan_updates.h"
#include "profiledb/tables/group_commit.h"
#include "profiledb/tables/plan_rows.h"
#include "profiledb/tables/plan_statements.h"
#include "profiledb/tables/service_tables.h"

namespace meshwright::tables {
namespace {

// Its change is durable.
void NoteDeed(store::AuditScope* deed) {
  if (deed != nullptr) deed->NoteWritten();
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
    ASSIGN_OR_RETURN(made.service, ServiceTables::Open(*database));
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
    v1::PlanRecord record;
    const std::string damage = ParseWholePlan(read, record);
    if (!damage.empty()) return MakeDamageError(id, damage);
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
    write.BindInteger(5, ComputeChecksum(id, row_bytes));
    if (record.has_plan()) {
      write.BindBlob(4, plan);
      write.BindInteger(6, ComputeChecksum(id, plan));
    }
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
    insert.BindInteger(4, ComputeChecksum(id, update.sequence(), update_bytes));
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
    Statement& list =
        Get(limits.stored_bytes.has_value() ? kOfNamespace : kUnfinished);
    const StatementUse use(list);
    list.BindText(1, given.namespace_());
    std::vector<v1::PlanRecord> plans;
    RETURN_IF_ERROR(ForEachRow(list, [&] {
      if (!ParseRecord(list, plans.emplace_back()).empty()) {
        plans.pop_back();  // a list sets it aside
      }
      return absl::OkStatus();
    }));
    refused = store::CheckLimits(limits, given, plans);
    return absl::OkStatus();
  }

  absl::StatusOr<v1::PlanRecord> Add(const v1::PlanRecord& given,
                                     const store::PlanLimits& limits,
                                     absl::Status& refused) {
    if (!given.request_id().empty()) {
      ASSIGN_OR_RETURN(const auto known, FindSubmission(given));
      if (known.has_value()) {
        auto there = Read(*known);
        if (there.ok()) refused = store::CheckIsSame(given, *there);
        if (!absl::IsDataLoss(there.status())) return there;
        RETURN_IF_ERROR(SetAside(*known));  // this one is in its place
      }
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
    v1::PlanUpdate update;
    const std::string damage =
        has_row ? ParseUpdate(id, read, update)
                : absl::StrCat("its update ", sequence, " is missing");
    if (!damage.empty()) return MakeDamageError(id, damage);
    return update;
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
      RETURN_IF_ERROR(ForEachRow(read, [&] {
        const std::string damage =
            ParseUpdate(id, read, updates.emplace_back());
        return damage.empty() ? absl::OkStatus() : MakeDamageError(id, damage);
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

  absl::Status SetAside(store::PlanId id) {
    Statement& write = Get(kSetAside);
    const StatementUse use(write);
    write.BindInteger(1, id.value);
    return write.Run();
  }

  // Those after `after` on one page, whose last one is `after` then; `after`
  // stays where there are none.
  absl::StatusOr<std::vector<store::DamagedPlan>> VerifyPage(
      store::PlanId& after) {
    struct Sound {
      store::DamagedPlan plan;
      int64_t updates;
    };
    std::vector<store::DamagedPlan> damaged;
    std::vector<Sound> sound;
    {
      Statement& read = Get(kReadPlansAfter);
      const StatementUse use(read);
      read.BindInteger(1, after.value);
      RETURN_IF_ERROR(ForEachRow(read, [&] {
        v1::PlanRecord record;
        store::DamagedPlan plan{store::PlanId{read.Integer(0)}, read.Bytes(6),
                                ParseWholePlan(read, record)};
        after = plan.id;
        if (plan.damage.empty()) {
          sound.push_back({std::move(plan), record.sequence()});
        } else {
          damaged.push_back(std::move(plan));
        }
        return absl::OkStatus();
      }));
    }
    for (Sound& it : sound) {
      ASSIGN_OR_RETURN(it.plan.damage, VerifyUpdates(it.plan.id, it.updates));
      it.plan.has_whole_record = true;
      if (!it.plan.damage.empty()) damaged.push_back(std::move(it.plan));
    }
    return damaged;
  }

  // What is wrong with them; there are `count` of them.
  absl::StatusOr<std::string> VerifyUpdates(store::PlanId id, int64_t count) {
    Statement& read = Get(kReadUpdates);
    const StatementUse use(read);
    read.BindInteger(1, id.value);
    read.BindInteger(2, 0);
    read.BindInteger(3, count + 1);
    std::string damage;
    int64_t next = 1;
    RETURN_IF_ERROR(ForEachRow(read, [&] {
      v1::PlanUpdate update;
      if (damage.empty()) damage = ParseUpdate(id, read, update);
      if (damage.empty() && update.sequence() != next) {
        damage = absl::StrCat("its update ", next, " is missing");
      }
      ++next;
      return absl::OkStatus();
    }));
    if (damage.empty() && next != count + 1) {
      damage = absl::StrCat("it has ", next - 1, " updates, not ", count);
    }
    return damage;
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
  std::unique_ptr<ServiceTables> service;
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

  // The same of work that only returns whether it failed.
  template <typename Work>
  absl::Status Change(const Work& work) {
    return Commit<bool>([&](Connection& connection) -> absl::StatusOr<bool> {
             RETURN_IF_ERROR(work(connection));
             return true;
           })
        .status();
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
  return writer_->Change([&](Connection& connection) {
    Statement& end = connection.Get(kEndTerm);
    const StatementUse use(end);
    end.BindInteger(1, mine.value);
    return end.Run();
  });
}

absl::StatusOr<v1::PlanRecord> TablePlanStore::Add(
    const v1::PlanRecord& record, const store::PlanLimits& limits) {
  store::AuditScope* const deed = store::AuditScope::FindOpen();
  absl::Status refused;
  ASSIGN_OR_RETURN(
      v1::PlanRecord added,
      writer_->Commit<v1::PlanRecord>(
          [&](Connection& connection) -> absl::StatusOr<v1::PlanRecord> {
            ASSIGN_OR_RETURN(v1::PlanRecord plan,
                             connection.Add(record, limits, refused));
            if (refused.ok()) {
              RETURN_IF_ERROR(connection.service->InsertDeed(deed, plan.id()));
            }
            return plan;
          }));
  RETURN_IF_ERROR(refused);
  NoteDeed(deed);
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
      "SELECT id, state, record, checksum, namespace FROM plans WHERE "
      "(CAST(?1 AS BIGINT) = 0 OR id < CAST(?1 AS BIGINT)) AND "
      "(?2 = '' OR owner = ?2) AND ",
      states.empty() ? "state > 0" : absl::StrCat("state IN (", states, ")"),
      teams.empty() ? "" : absl::StrCat(" AND namespace IN (", teams, ")"),
      " ORDER BY id DESC LIMIT ?3");
  using Records = std::vector<v1::PlanRecord>;
  std::vector<store::DamagedPlan> damaged;
  auto answer = reader_->Read<Records>(
      [&](Connection& connection) -> absl::StatusOr<Records> {
        ASSIGN_OR_RETURN(const std::unique_ptr<Statement> prepared,
                         connection.database->Prepare(sql));
        Statement& list = *prepared;
        Records records;
        store::PlanId before = filter.before;
        const int64_t limit = std::max(filter.limit, 0);
        damaged.clear();
        // Once more where damaged ones take the places of others.
        for (int64_t left = limit; left > 0;) {
          const StatementUse use(list);
          list.BindInteger(1, before.value);
          list.BindText(2, filter.owner);
          list.BindInteger(3, left);
          for (size_t i = 0; i < filter.teams.size(); ++i) {
            list.BindText(kFirstTeam + static_cast<int>(i), filter.teams[i]);
          }
          int64_t read = 0;
          RETURN_IF_ERROR(ForEachRow(list, [&] {
            ++read;
            before = store::PlanId{list.Integer(0)};
            std::string damage = ParseRecord(list, records.emplace_back());
            if (!damage.empty()) {
              records.pop_back();
              damaged.push_back({before, list.Bytes(4), std::move(damage)});
            }
            return absl::OkStatus();
          }));
          left = read < left ? 0 : limit - std::ssize(records);
        }
        return records;
      });
  SetAside(damaged);
  return answer;
}

void TablePlanStore::SetAside(const std::vector<store::DamagedPlan>& damaged) {
  if (damaged.empty()) return;
  const absl::Status status =
      writer_
          ->Commit<bool>([&](Connection& connection) -> absl::StatusOr<bool> {
            for (const store::DamagedPlan& plan : damaged) {
              const absl::Status now = connection.Read(plan.id).status();
              if (!absl::IsDataLoss(now)) continue;
              RETURN_IF_ERROR(connection.SetAside(plan.id));
            }
            return true;
          })
          .status();
  for (const store::DamagedPlan& plan : damaged) {
    base::LogWarning(
        "store: left out: ", MakeDamageError(plan.id, plan.damage).message(),
        status.ok() ? "" : "; it is still there: ", status.message());
  }
}

absl::StatusOr<std::vector<store::DamagedPlan>> TablePlanStore::Verify() {
  using Damaged = std::vector<store::DamagedPlan>;
  Damaged all;
  store::PlanId after;
  while (true) {
    const store::PlanId begin = after;
    ASSIGN_OR_RETURN(Damaged damaged,
                     reader_->Read<Damaged>([&](Connection& connection) {
                       after = begin;
                       return connection.VerifyPage(after);
                     }));
    if (after == begin) return all;
    all.insert(all.end(), damaged.begin(), damaged.end());
    // With updates alone damaged, the plan itself is of use.
    std::erase_if(damaged, [](const store::DamagedPlan& plan) {
      return plan.has_whole_record;
    });
    SetAside(damaged);
  }
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
  store::AuditScope* const deed = store::AuditScope::FindOpen();
  ASSIGN_OR_RETURN(
      v1::PlanRecord appended,
      writer_->Commit<v1::PlanRecord>(
          [&](Connection& connection) -> absl::StatusOr<v1::PlanRecord> {
            RETURN_IF_ERROR(connection.CheckEpoch(epoch));
            ASSIGN_OR_RETURN(v1::PlanRecord record, connection.Read(id));
            RETURN_IF_ERROR(connection.Write(id, update, record));
            RETURN_IF_ERROR(
                connection.service->InsertDeed(deed, store::FormatPlanId(id)));
            record.clear_plan();
            return record;
          }));
  NoteDeed(deed);
  return appended;
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
  return writer_->Change([&](Connection& connection) {
    return connection.service->RememberDevice(device);
  });
}

absl::StatusOr<std::vector<v1::DeviceRecord>> TablePlanStore::ListDevices() {
  return reader_->Read<std::vector<v1::DeviceRecord>>(
      [](Connection& connection) { return connection.service->ListDevices(); });
}

absl::Status TablePlanStore::SetOrder(std::optional<store::Epoch> epoch,
                                      const v1::WorkerOrder& order) {
  store::AuditScope* const deed = store::AuditScope::FindOpen();
  RETURN_IF_ERROR(writer_->Change([&](Connection& connection) -> absl::Status {
    if (epoch.has_value()) RETURN_IF_ERROR(connection.CheckEpoch(*epoch));
    RETURN_IF_ERROR(connection.service->SetOrder(order));
    return connection.service->InsertDeed(deed, order.worker());
  }));
  NoteDeed(deed);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<v1::WorkerOrder>> TablePlanStore::ListOrders() {
  return reader_->Read<std::vector<v1::WorkerOrder>>(
      [](Connection& connection) { return connection.service->ListOrders(); });
}

absl::Status TablePlanStore::RecordAudit(
    absl::Span<const store::AuditRow> rows) {
  return writer_->Change([&](Connection& connection) -> absl::Status {
    for (const store::AuditRow& row : rows) {
      RETURN_IF_ERROR(connection.service->InsertAudit(row));
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<store::AuditRow>> TablePlanStore::ReadAudit(
    int64_t after, int limit) {
  return reader_->Read<std::vector<store::AuditRow>>(
      [&](Connection& connection) {
        return connection.service->ReadAudit(after, limit);
      });
}

absl::StatusOr<std::vector<store::AuditRow>> TablePlanStore::ReadNewestAudit(
    int limit) {
  return reader_->Read<std::vector<store::AuditRow>>(
      [&](Connection& connection) {
        return connection.service->ReadNewestAudit(limit);
      });
}

absl::StatusOr<int64_t> TablePlanStore::RemoveAudit(absl::Time before) {
  return writer_->Commit<int64_t>([&](Connection& connection) {
    return connection.service->RemoveAudit(before);
  });
}

absl::Status TablePlanStore::SetWorkers(store::Epoch epoch,
                                        const store::WorkerChanges& changes) {
  return writer_->Change([&](Connection& connection) -> absl::Status {
    RETURN_IF_ERROR(connection.CheckEpoch(epoch));
    return connection.service->SetWorkers(changes);
  });
}

absl::StatusOr<std::vector<store::WorkerRow>> TablePlanStore::ListWorkers() {
  return reader_->Read<std::vector<store::WorkerRow>>(
      [](Connection& connection) { return connection.service->ListWorkers(); });
}

}  // namespace meshwright::tables
