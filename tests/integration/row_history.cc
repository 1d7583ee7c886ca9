#include "tests/integration/row_history.h"

#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "profiledb/open.h"
#include "profiledb/sqlite/sqlite_database.h"

namespace meshwright::integration {
namespace {

// The whole lines of a log from byte `at` on, which becomes its end.
std::vector<std::string> ReadLines(const std::string& path, int64_t& at) {
  std::vector<std::string> lines;
  std::ifstream log(path, std::ios::binary);
  log.seekg(at);
  std::string line;
  while (std::getline(log, line) && !log.eof()) {
    at += static_cast<int64_t>(line.size()) + 1;
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

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

std::string RowHistory::ReadLeases() {
  for (const std::string& line :
       ReadLines(log_path_ + ".leases", leases_read_)) {
    absl::string_view key = line;
    if (absl::ConsumePrefix(&key, "acknowledged ")) {
      acknowledged_.emplace(key);
    } else if (acknowledged_.contains(line)) {
      return absl::StrCat("the program ", key,
                          " was given to a worker again, and its result was "
                          "acknowledged");
    }
  }
  return "";
}

absl::StatusOr<std::string> RowHistory::Check() {
  // Before the rows: what is acknowledged by now is committed by now.
  std::string given_again = ReadLeases();
  if (!given_again.empty()) return given_again;
  // Before the log: what is measured later is measured after the commits.
  ASSIGN_OR_RETURN(std::set<std::string> rows, ReadRows());
  for (const std::string& key : ReadLines(log_path_, log_read_)) {
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
  for (const std::string& key : acknowledged_) {
    if (!rows.contains(key)) {
      return absl::StrCat("the result of ", key,
                          " was acknowledged and has no row");
    }
  }
  committed_ = std::move(rows);
  return "";
}

}  // namespace meshwright::integration
