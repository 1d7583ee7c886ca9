#include "profiledb/sqlite/sqlite_database.h"

#include <sqlite3.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::sqlite {
namespace {

constexpr int kBusyMilliseconds = 10'000;

absl::Status ToStatus(sqlite3* database, const std::string& path) {
  const int code = sqlite3_extended_errcode(database);
  const std::string message = sqlite3_errmsg(database);
  const bool no_space =
      (code & 0xff) == SQLITE_IOERR && sqlite3_system_errno(database) == ENOSPC;
  if ((code & 0xff) == SQLITE_FULL || no_space) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the store ", path, " cannot grow: the disk is full"));
  }
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::UnavailableError(
          absl::StrCat("the store ", path, " is held by another process"));
    case SQLITE_NOTADB:
      return absl::InvalidArgumentError(
          absl::StrCat(path, " is not a Meshwright store"));
    case SQLITE_CORRUPT:
      return absl::DataLossError(
          absl::StrCat("the store ", path, " is damaged: ", message));
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return absl::PermissionDeniedError(
          absl::StrCat("the store ", path, " cannot be written: ", message));
    default:
      return absl::InternalError(
          absl::StrCat("the store ", path, " failed: ", message));
  }
}

}  // namespace

void SqliteStatement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void SqliteStatement::BindText(int parameter, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), parameter, text.data(), text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
}

void SqliteStatement::BindBlob(int parameter, std::string_view bytes) {
  // A null pointer would bind NULL, not the empty blob.
  sqlite3_bind_blob64(statement_.get(), parameter,
                      bytes.empty() ? "" : bytes.data(), bytes.size(),
                      SQLITE_STATIC);
}

void SqliteStatement::BindInteger(int parameter, int64_t value) {
  sqlite3_bind_int64(statement_.get(), parameter, value);
}

absl::StatusOr<bool> SqliteStatement::Step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return ToStatus(sqlite3_db_handle(statement_.get()), *path_);
}

absl::Status SqliteStatement::Run() {
  while (true) {
    ASSIGN_OR_RETURN(const bool has_row, Step());
    if (!has_row) return {};
  }
}

int64_t SqliteStatement::Integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string SqliteStatement::Bytes(int column) const {
  return std::string(View(column));
}

std::string_view SqliteStatement::View(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (bytes == nullptr) return "";
  return {static_cast<const char*>(bytes), static_cast<size_t>(size)};
}

bool SqliteStatement::IsNull(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

void SqliteStatement::Reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

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

absl::StatusOr<SqliteStatement> SqliteDatabase::Prepare(
    const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v3(database_.get(), sql.data(), sql.size(),
                         SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return ToStatus(database_.get(), path_);
  return SqliteStatement(statement, &path_);
}

absl::StatusOr<int64_t> SqliteDatabase::QueryInteger(const std::string& sql) {
  ASSIGN_OR_RETURN(SqliteStatement statement, Prepare(sql));
  ASSIGN_OR_RETURN(const bool has_row, statement.Step());
  if (!has_row) return absl::InternalError("no row from: " + sql);
  return statement.Integer(0);
}

}  // namespace meshwright::sqlite
