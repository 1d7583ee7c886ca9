#include "profiledb/tables/quarantine_table.h"

#include <cstdint>
#include <utility>

#include "base/status_macros.h"
#include "profiledb/store/precedence.h"
#include "profiledb/tables/stored_row.h"

namespace meshwright::tables {
namespace {

// In the order of kQuarantineSql. States are the numbers of
// store::QuarantineState.
enum QuarantineStatement {
  kAddCrashes,
  kAddDamaged,
  kForget,
  kList,
  kHas,
  kHolds
};

// The casts are for PostgreSQL, which would take the numbers for texts.
constexpr const char* kQuarantineSql[] = {
    "INSERT INTO quarantine (key, state, crashes, reason, log, "
    "recorded_unix_ns) VALUES (?1, CASE WHEN CAST(?6 AS INTEGER) >= "
    "CAST(?5 AS INTEGER) THEN 2 ELSE 1 END, CAST(?6 AS INTEGER), ?2, ?3, ?4) "
    "ON CONFLICT (key) DO UPDATE SET state = CASE WHEN quarantine.crashes + "
    "CAST(?6 AS INTEGER) >= CAST(?5 AS INTEGER) THEN 2 ELSE 1 END, "
    "crashes = quarantine.crashes + CAST(?6 AS INTEGER), "
    "reason = excluded.reason, log = excluded.log, "
    "recorded_unix_ns = excluded.recorded_unix_ns RETURNING crashes",

    "INSERT INTO quarantine (key, state, crashes, reason, log, "
    "recorded_unix_ns) VALUES (?1, 3, 0, ?2, ?4, ?3) ON CONFLICT (key) "
    "DO UPDATE SET reason = excluded.reason, "
    "recorded_unix_ns = excluded.recorded_unix_ns WHERE quarantine.state = 3",

    "DELETE FROM quarantine WHERE key = ?1 RETURNING key",

    "SELECT key, state, crashes, reason, log, recorded_unix_ns, "
    "CASE WHEN EXISTS (SELECT 1 FROM programs WHERE programs.key = "
    "quarantine.key) THEN 1 ELSE 0 END FROM quarantine ORDER BY key",

    "SELECT COUNT(*) FROM quarantine WHERE key = ?1",

    "SELECT COUNT(*) FROM quarantine WHERE key = ?1 AND state = 2",
};

}  // namespace

absl::StatusOr<std::unique_ptr<QuarantineTable>> QuarantineTable::Open(
    Database& database) {
  ASSIGN_OR_RETURN(std::vector<std::unique_ptr<Statement>> statements,
                   database.PrepareAll(kQuarantineSql));
  return std::unique_ptr<QuarantineTable>(
      new QuarantineTable(std::move(statements)));
}

absl::StatusOr<int> QuarantineTable::AddCrashes(const std::string& key,
                                                int crashes,
                                                std::string_view reason,
                                                std::string_view log,
                                                store::Nanoseconds now) {
  Statement& add = *statements_[kAddCrashes];
  const StatementUse use(add);
  add.BindText(1, key);
  add.BindText(2, reason);
  add.BindText(3, store::CutLog(log));
  add.BindInteger(4, ToUnixNs(now));
  add.BindInteger(5, store::kCrashesToQuarantine);
  add.BindInteger(6, crashes);
  ASSIGN_OR_RETURN(const bool has_row, add.Step());
  if (!has_row) return absl::InternalError("a crash was not written");
  const auto total = static_cast<int>(add.Integer(0));
  RETURN_IF_ERROR(add.Run());
  return total;
}

absl::Status QuarantineTable::AddDamaged(const std::string& key,
                                         std::string_view reason,
                                         store::Nanoseconds now) {
  Statement& add = *statements_[kAddDamaged];
  const StatementUse use(add);
  add.BindText(1, key);
  add.BindText(2, reason);
  add.BindInteger(3, ToUnixNs(now));
  add.BindText(4, "");
  return add.Run();
}

absl::StatusOr<bool> QuarantineTable::Forget(const std::string& key) {
  Statement& forget = *statements_[kForget];
  const StatementUse use(forget);
  forget.BindText(1, key);
  ASSIGN_OR_RETURN(const bool has_row, forget.Step());
  if (has_row) RETURN_IF_ERROR(forget.Run());
  return has_row;
}

absl::StatusOr<bool> QuarantineTable::IsAny(int statement,
                                            const std::string& key) {
  Statement& count = *statements_[statement];
  const StatementUse use(count);
  count.BindText(1, key);
  ASSIGN_OR_RETURN(const bool has_row, count.Step());
  return has_row && count.Integer(0) > 0;
}

absl::StatusOr<bool> QuarantineTable::Has(const std::string& key) {
  return IsAny(kHas, key);
}

absl::StatusOr<bool> QuarantineTable::Holds(const std::string& key) {
  return IsAny(kHolds, key);
}

absl::StatusOr<std::vector<store::QuarantineEntry>> QuarantineTable::List() {
  Statement& list = *statements_[kList];
  const StatementUse use(list);
  std::vector<store::QuarantineEntry> entries;
  RETURN_IF_ERROR(ForEachRow(list, [&] {
    entries.push_back(
        {.key = list.Bytes(0),
         .state = static_cast<store::QuarantineState>(list.Integer(1)),
         .crashes = static_cast<int>(list.Integer(2)),
         .reason = list.Bytes(3),
         .log = list.Bytes(4),
         .has_program = list.Integer(6) != 0,
         .recorded = FromUnixNs(list.Integer(5))});
    return absl::OkStatus();
  }));
  return entries;
}

}  // namespace meshwright::tables
