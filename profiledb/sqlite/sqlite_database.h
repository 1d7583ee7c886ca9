// SqliteDatabase, SqliteStatement: SQLite handles that close themselves.
//
// Threads and ownership: one thread at a time per database. Statements belong
// to their database and end before it.
// Errors: every SQLite failure in one sentence that names the file:
// kResourceExhausted (disk full), kUnavailable (held by another process),
// kInvalidArgument (not a database), kDataLoss (damaged), kPermissionDenied.
#ifndef MESHWRIGHT_PROFILEDB_SQLITE_SQLITE_DATABASE_H_
#define MESHWRIGHT_PROFILEDB_SQLITE_SQLITE_DATABASE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct sqlite3;
struct sqlite3_stmt;

namespace meshwright::sqlite {

class SqliteStatement {
 public:
  // Parameters count from 1, columns from 0. A bound view must live until the
  // statement is reset. A parameter that is not bound is NULL.
  void BindText(int parameter, std::string_view text);
  void BindBlob(int parameter, std::string_view bytes);
  void BindInteger(int parameter, int64_t value);

  // True: a row is there. False: there is none left.
  absl::StatusOr<bool> Step();
  // Steps to the end.
  absl::Status Run();

  int64_t Integer(int column) const;
  std::string Bytes(int column) const;
  // Valid until the next step or reset.
  std::string_view View(int column) const;
  bool IsNull(int column) const;

  // Ready for other parameters.
  void Reset();

 private:
  friend class SqliteDatabase;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  SqliteStatement(sqlite3_stmt* statement, const std::string* path)
      : statement_(statement), path_(path) {}

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  const std::string* path_;
};

// Resets a statement at the end of a scope, so that no read stays open.
class StatementUse {
 public:
  explicit StatementUse(SqliteStatement& statement) : statement_(statement) {}
  ~StatementUse() { statement_.Reset(); }
  StatementUse(const StatementUse&) = delete;
  StatementUse& operator=(const StatementUse&) = delete;

 private:
  SqliteStatement& statement_;
};

class SqliteDatabase {
 public:
  // Opens or creates the file and waits up to ten seconds for locks.
  static absl::StatusOr<std::unique_ptr<SqliteDatabase>> Open(
      const std::string& path);
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  // Runs statements that give no rows.
  absl::Status Execute(const std::string& sql);
  // The one integer of a query.
  absl::StatusOr<int64_t> QueryInteger(const std::string& sql);
  absl::StatusOr<SqliteStatement> Prepare(const std::string& sql);

  // Takes the write lock, runs `work`, commits; rolls back if either fails.
  template <typename Work>
  absl::Status Transact(const Work& work) {
    if (absl::Status begun = Execute("BEGIN IMMEDIATE"); !begun.ok()) {
      return begun;
    }
    absl::Status status = work();
    if (status.ok()) status = Execute("COMMIT");
    if (!status.ok()) Execute("ROLLBACK").IgnoreError();
    return status;
  }

  const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  SqliteDatabase(sqlite3* database, std::string path)
      : database_(database), path_(std::move(path)) {}

  std::unique_ptr<sqlite3, Close> database_;
  std::string path_;
};

}  // namespace meshwright::sqlite

#endif  // MESHWRIGHT_PROFILEDB_SQLITE_SQLITE_DATABASE_H_
