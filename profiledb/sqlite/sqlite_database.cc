#include "profiledb/sqlite/sqlite_database.h"

#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "profiledb/store/away.h"

namespace meshwright::sqlite {
namespace {

constexpr int kBusyMilliseconds = 10'000;
constexpr char kMayWrite[] =
    "; see that this user may write the file and its folder";

absl::Status ToStatus(sqlite3* database, const std::string& path) {
  const int code = sqlite3_extended_errcode(database);
  const std::string message = sqlite3_errmsg(database);
  const bool no_space =
      (code & 0xff) == SQLITE_IOERR && sqlite3_system_errno(database) == ENOSPC;
  if ((code & 0xff) == SQLITE_FULL || no_space) {
    return store::MarkAway(absl::ResourceExhaustedError(
        absl::StrCat("the store ", path,
                     " cannot grow: the disk is full; make room on it")));
  }
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return store::MarkAway(absl::UnavailableError(
          absl::StrCat("the store ", path, " is held by another process")));
    case SQLITE_NOTADB:
      return absl::InvalidArgumentError(
          absl::StrCat(path, " is not a Meshwright store"));
    case SQLITE_CORRUPT:
      return absl::DataLossError(absl::StrCat(
          "the store ", path, " is damaged: ", message, "; restore a backup"));
    case SQLITE_READONLY:
      // A file system is mounted so after an error, and again as it was later.
      return store::MarkAway(absl::PermissionDeniedError(absl::StrCat(
          "the store ", path, " cannot be written: ", message, kMayWrite)));
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return absl::PermissionDeniedError(absl::StrCat(
          "the store ", path, " cannot be written: ", message, kMayWrite));
    case SQLITE_IOERR:
      return store::MarkAway(absl::InternalError(
          absl::StrCat("the store ", path, " failed: ", message)));
    default:
      return absl::InternalError(
          absl::StrCat("the store ", path, " failed: ", message));
  }
}

class SqliteStatement : public tables::Statement {
 public:
  SqliteStatement(sqlite3_stmt* statement, const std::string& path)
      : statement_(statement), path_(path) {}

  void BindText(int parameter, std::string_view text) override {
    // A null pointer would bind NULL, not the empty text.
    sqlite3_bind_text64(statement_.get(), parameter,
                        text.empty() ? "" : text.data(), text.size(),
                        SQLITE_STATIC, SQLITE_UTF8);
  }
  void BindBlob(int parameter, std::string_view bytes) override {
    sqlite3_bind_blob64(statement_.get(), parameter,
                        bytes.empty() ? "" : bytes.data(), bytes.size(),
                        SQLITE_STATIC);
  }
  void BindInteger(int parameter, int64_t value) override {
    sqlite3_bind_int64(statement_.get(), parameter, value);
  }

  absl::StatusOr<bool> Step() override {
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return ToStatus(sqlite3_db_handle(statement_.get()), path_);
  }

  int64_t Integer(int column) const override {
    return sqlite3_column_int64(statement_.get(), column);
  }
  std::string_view View(int column) const override {
    const void* bytes = sqlite3_column_blob(statement_.get(), column);
    const int size = sqlite3_column_bytes(statement_.get(), column);
    if (bytes == nullptr) return "";
    return {static_cast<const char*>(bytes), static_cast<size_t>(size)};
  }
  bool IsNull(int column) const override {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
  }

  void Reset() override {
    sqlite3_reset(statement_.get());
    sqlite3_clear_bindings(statement_.get());
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const {
      sqlite3_finalize(statement);
    }
  };

  const std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  const std::string& path_;  // of its database
};

}  // namespace

void SqliteDatabase::Close::operator()(sqlite3* database) const {
  sqlite3_close_v2(database);
}

absl::StatusOr<std::unique_ptr<SqliteDatabase>> SqliteDatabase::Open(
    const std::string& path) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(
      path.c_str(), &handle,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
      nullptr);
  if (handle == nullptr) {
    return absl::ResourceExhaustedError("no memory to open the store " + path);
  }
  std::unique_ptr<SqliteDatabase> database(new SqliteDatabase(handle, path));
  if (code != SQLITE_OK) return ToStatus(handle, path);
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  return database;
}

absl::Status SqliteDatabase::Execute(const std::string& sql) {
  const int code =
      sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) return {};
  return ToStatus(database_.get(), path_);
}

absl::StatusOr<std::unique_ptr<tables::Statement>> SqliteDatabase::Prepare(
    const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(
      database_.get(), sql.data(), static_cast<int>(sql.size()),
      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return ToStatus(database_.get(), path_);
  return std::make_unique<SqliteStatement>(statement, path_);
}

std::string SqliteDatabase::FormatHexSql(const std::string& column) const {
  return absl::StrCat("LOWER(HEX(", column, "))");
}

absl::Status SqliteDatabase::Check() {
  ASSIGN_OR_RETURN(const auto check, Prepare("PRAGMA integrity_check(1)"));
  ASSIGN_OR_RETURN(const bool has_row, check->Step());
  if (has_row && check->View(0) == "ok") return {};
  return absl::DataLossError(absl::StrCat(
      "the store ", path_, " is damaged: ", has_row ? check->Bytes(0) : ""));
}

absl::Status SqliteDatabase::Limit(int64_t max_bytes) {
  ASSIGN_OR_RETURN(const int64_t page, QueryInteger("PRAGMA page_size"));
  const int64_t pages = std::max<int64_t>(1, max_bytes / page);
  return QueryInteger(absl::StrCat("PRAGMA max_page_count = ", pages)).status();
}

absl::Status SqliteDatabase::CopyTo(SqliteDatabase& target) {
  sqlite3_backup* const backup = sqlite3_backup_init(
      target.database_.get(), "main", database_.get(), "main");
  if (backup == nullptr) {
    return ToStatus(target.database_.get(), target.path_);
  }
  // All pages in one step: of one moment, and readers and the writer of a
  // write-ahead log go on meanwhile.
  const int code = sqlite3_backup_step(backup, -1);
  const int finished = sqlite3_backup_finish(backup);
  if (code == SQLITE_DONE && finished == SQLITE_OK) return {};
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
    return absl::UnavailableError(
        absl::StrCat("the store ", path_, " is held by another process"));
  }
  return ToStatus(target.database_.get(), target.path_);
}

absl::Status SqliteDatabase::Begin(tables::Access access) {
  return Execute(access == tables::Access::kWrite ? "BEGIN IMMEDIATE"
                                                  : "BEGIN");
}

}  // namespace meshwright::sqlite
