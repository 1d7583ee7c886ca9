// SqliteDatabase: a connection to a SQLite file, which closes itself.
//
// Threads, ownership and errors: those of tables::Database. One thread at a
// time per database.
#ifndef MESHWRIGHT_PROFILEDB_SQLITE_SQLITE_DATABASE_H_
#define MESHWRIGHT_PROFILEDB_SQLITE_SQLITE_DATABASE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiledb/tables/database.h"

struct sqlite3;

namespace meshwright::sqlite {

class SqliteDatabase : public tables::Database {
 public:
  // Opens or creates the file and waits up to ten seconds for locks.
  static absl::StatusOr<std::unique_ptr<SqliteDatabase>> Open(
      const std::string& path);
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  absl::Status Execute(const std::string& sql) override;
  absl::StatusOr<std::unique_ptr<tables::Statement>> Prepare(
      const std::string& sql) override;
  bool HasArrays() const override { return false; }
  std::string FormatHexSql(const std::string& column) const override;
  std::string ClockMs() const override {
    return "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)";
  }
  std::string WithOwnIds() const override { return ""; }
  // AUTOINCREMENT sees the largest id by itself.
  absl::Status PassIds(const std::string& /*table*/) override { return {}; }
  absl::Status Check() override;
  const std::string& name() const override { return path_; }

  // The file may not grow beyond this; writes then say that the disk is full.
  absl::Status Limit(int64_t max_bytes);
  // Copies everything, of one moment, into an empty database while others read
  // and write this one.
  absl::Status CopyTo(SqliteDatabase& target);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  SqliteDatabase(sqlite3* database, std::string path)
      : database_(database), path_(std::move(path)) {}
  absl::Status Begin(tables::Access access) override;

  std::unique_ptr<sqlite3, Close> database_;
  std::string path_;
};

}  // namespace meshwright::sqlite

#endif  // MESHWRIGHT_PROFILEDB_SQLITE_SQLITE_DATABASE_H_
