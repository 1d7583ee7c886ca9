#include "tests/integration/row_history.h"

#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "profiledb/open.h"
#include "profiledb/sqlite/sqlite_database.h"

namespace meshwright::integration {

RowHistory::RowHistory(std::string store, const std::string& log_path)
    : store_(std::move(store)), log_path_(log_path) {
  std::ofstream(log_path_, std::ios::app);  // there from the start
}

absl::Status RowHistory::CopyFile(const std::string& copy) const {
  const std::filesystem::path folder =
      std::filesystem::path(copy).parent_path();
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  for (const char* const suffix : {"", "-wal"}) {
    if (std::filesystem::exists(store_ + suffix)) {
      std::filesystem::copy_file(store_ + suffix, copy + suffix);
    }
  }
  ASSIGN_OR_RETURN(const auto database, sqlite::SqliteDatabase::Open(copy));
  return database->Check();
}

absl::StatusOr<std::set<std::string>> RowHistory::ReadRows() const {
  std::string read = store_;
  if (!store::IsPostgresUrl(store_)) {
    read = store_ + ".copy/store";
    RETURN_IF_ERROR(CopyFile(read));
  }
  ASSIGN_OR_RETURN(const auto store, store::OpenProfileStore(read));
  std::set<std::string> rows;
  RETURN_IF_ERROR(
      store->ForEach([&](const v1::ProfileResult& row, const store::Origin&) {
        rows.insert(row.key());
        return true;
      }));
  return rows;
}

absl::StatusOr<std::string> RowHistory::Check() {
  // Before the log: what is measured later is measured after the commits.
  ASSIGN_OR_RETURN(std::set<std::string> rows, ReadRows());
  std::ifstream log(log_path_, std::ios::binary);
  log.seekg(log_read_);
  std::string key;
  while (std::getline(log, key) && !log.eof()) {
    log_read_ += static_cast<int64_t>(key.size()) + 1;
    ++measured_;
    if (committed_.contains(key)) {
      return absl::StrCat("the program ", key,
                          " was measured again, and its row was committed");
    }
  }
  for (const std::string& known : committed_) {
    if (!rows.contains(known)) {
      return absl::StrCat("the row of ", known, " was committed and is lost");
    }
  }
  committed_ = std::move(rows);
  return "";
}

}  // namespace meshwright::integration
