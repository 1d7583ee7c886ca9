// Database, Statement: one connection to the database that holds a store.
//
// Concept: the tables of a store and the rules over them (profile_tables.h,
// table_profile_store.h) are the same in SQLite and in PostgreSQL. A statement
// is SQL that both understand, with parameters ?1, ?2, ... A backend implements
// this header and brings its schema up to date.
//
//   ProfileTables ─┐                  ┌─ sqlite::SqliteDatabase
//   QuarantineTable ┼─▶ tables::Database ┤
//   ProgramTable ──┘                  └─ postgres::PostgresDatabase
//
// Threads and ownership: one thread at a time per database. Statements belong
// to their database and end before it.
// Errors: every failure in one sentence that names the store:
// kResourceExhausted (disk full), kUnavailable (held by another process, or the
// server is lost: try again), kInvalidArgument (not a store), kDataLoss
// (damaged), kPermissionDenied, kInternal (any other failure).
#ifndef MESHWRIGHT_PROFILEDB_TABLES_DATABASE_H_
#define MESHWRIGHT_PROFILEDB_TABLES_DATABASE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace meshwright::tables {

class Statement {
 public:
  virtual ~Statement() = default;

  // Parameters count from 1, columns from 0. A bound view must live until the
  // statement is reset. A parameter that is not bound is NULL.
  virtual void BindText(int parameter, std::string_view text) = 0;
  virtual void BindBlob(int parameter, std::string_view bytes) = 0;
  virtual void BindInteger(int parameter, int64_t value) = 0;
  // For `= ANY (?1)`, where the database has arrays.
  virtual void BindBlobs(int parameter, absl::Span<const std::string> blobs);

  // True: a row is there. False: there is none left.
  virtual absl::StatusOr<bool> Step() = 0;
  // Steps to the end.
  absl::Status Run();

  // Of the row at which Step is; a NULL reads as 0.
  virtual int64_t Integer(int column) const = 0;
  // Valid until the next step or reset.
  virtual std::string_view View(int column) const = 0;
  virtual bool IsNull(int column) const = 0;
  std::string Bytes(int column) const { return std::string(View(column)); }

  // Ready for other parameters.
  virtual void Reset() = 0;
};

// Steps to the end; `take`, which returns a status, reads one row.
template <typename Take>
absl::Status ForEachRow(Statement& statement, const Take& take) {
  while (true) {
    const absl::StatusOr<bool> has_row = statement.Step();
    if (!has_row.ok()) return has_row.status();
    if (!*has_row) return absl::OkStatus();
    if (absl::Status taken = take(); !taken.ok()) return taken;
  }
}

// Resets a statement at the end of a scope, so that no read stays open.
class StatementUse {
 public:
  explicit StatementUse(Statement& statement) : statement_(statement) {}
  ~StatementUse() { statement_.Reset(); }
  StatementUse(const StatementUse&) = delete;
  StatementUse& operator=(const StatementUse&) = delete;

 private:
  Statement& statement_;
};

enum class Access { kRead, kWrite };

class Database {
 public:
  virtual ~Database() = default;

  // Runs statements that give no rows.
  virtual absl::Status Execute(const std::string& sql) = 0;
  // The statement belongs to this database, and must end before it.
  virtual absl::StatusOr<std::unique_ptr<Statement>> Prepare(
      const std::string& sql) = 0;

  // The one integer of a query.
  absl::StatusOr<int64_t> QueryInteger(const std::string& sql);
  // All of them, in order, or the first error.
  absl::StatusOr<std::vector<std::unique_ptr<Statement>>> PrepareAll(
      absl::Span<const char* const> sql);

  // Runs `work` in a transaction and commits; rolls back if either fails. A
  // writer excludes other writers from the first statement on; what a reader
  // sees is of one moment.
  template <typename Work>
  absl::Status Transact(Access access, const Work& work) {
    if (absl::Status begun = Begin(access); !begun.ok()) return begun;
    absl::Status status = work();
    if (status.ok()) status = Execute("COMMIT");
    if (!status.ok()) Execute("ROLLBACK").IgnoreError();
    return status;
  }

  // Whether it takes BindBlobs: many keys in one turn.
  virtual bool HasArrays() const = 0;
  // SQL for the lower-case hex digits of a blob.
  virtual std::string FormatHexSql(const std::string& column) const = 0;
  // SQL for the database's clock: milliseconds since 1970 UTC.
  virtual std::string ClockMs() const = 0;
  // SQL between the columns and the values of an INSERT that gives its rows
  // their ids, which the database otherwise gives itself.
  virtual std::string WithOwnIds() const = 0;
  // After such an INSERT: ids that the database gives are beyond all there are.
  virtual absl::Status PassIds(const std::string& table) = 0;
  // Finds damage below the rows, where the database can tell.
  virtual absl::Status Check() = 0;
  // As messages name it; never with a password.
  virtual const std::string& name() const = 0;

 private:
  virtual absl::Status Begin(Access access) = 0;
};

}  // namespace meshwright::tables

#endif  // MESHWRIGHT_PROFILEDB_TABLES_DATABASE_H_
