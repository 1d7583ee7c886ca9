#include "tests/integration/row_history.h"

#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "profiledb/sqlite/sqlite_database.h"
#include "profiledb/sqlite/sqlite_profile_store.h"

namespace meshwright::integration {

RowHistory::RowHistory(std::string store_path, const std::string& log_path)
    : store_path_(std::move(store_path)), log_path_(log_path) {
  std::ofstream(log_path_, std::ios::app);  // there from the start
}

absl::StatusOr<std::set<std::string>> RowHistory::ReadRows() const {
  const std::string folder = store_path_ + ".copy";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string copy = folder + "/store";
  for (const char* const suffix : {"", "-wal"}) {
    if (std::filesystem::exists(store_path_ + suffix)) {
      std::filesystem::copy_file(store_path_ + suffix, copy + suffix);
    }
  }
  ASSIGN_OR_RETURN(const auto database, sqlite::SqliteDatabase::Open(copy));
  RETURN_IF_ERROR(database->Check());
  ASSIGN_OR_RETURN(const auto store, sqlite::SqliteProfileStore::Open(copy));
  std::set<std::string> rows;
  RETURN_IF_ERROR(
      store->ForEach([&](const v1::ProfileResult& row, const store::Origin&) {
        rows.insert(row.key());
        return true;
      }));
  return rows;
}

absl::StatusOr<std::string> RowHistory::Check() {
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
