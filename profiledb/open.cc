#include "profiledb/open.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "profiledb/postgres/postgres_database.h"
#include "profiledb/postgres/postgres_profile_store.h"
#include "profiledb/sqlite/sqlite_profile_store.h"

namespace meshwright::store {

namespace {

// Of a file; nothing is to be made for a URL.
absl::Status CheckFile(const std::string& path) {
  if (path.empty()) {
    return absl::InvalidArgumentError("the path of the store is empty");
  }
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is a folder, not a store"));
  }
  // Of hard links SQLite knows nothing: each would have a log of its own.
  if (std::filesystem::hard_link_count(path, error) > 1 && !error) {
    return absl::FailedPreconditionError(
        absl::StrCat("the store ", path,
                     " has several hard links, and would be damaged through "
                     "them; leave one, and make copies with \"meshwright "
                     "store backup\""));
  }
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) {
    std::filesystem::create_directories(folder, error);
    if (error) {
      return absl::ErrnoToStatus(
          error.value(),
          absl::StrCat("cannot make the folder ", folder.string()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool IsPostgresUrl(std::string_view path) {
  return path.substr(0, 11) == "postgres://" ||
         path.substr(0, 13) == "postgresql://";
}

std::string DescribeStorePath(const std::string& path) {
  if (!IsPostgresUrl(path)) return path;
  return postgres::NameOfUrl(path).value_or("postgres://");
}

absl::StatusOr<std::unique_ptr<ProfileStore>> OpenProfileStore(
    const std::string& path) {
  if (IsPostgresUrl(path)) {
    ASSIGN_OR_RETURN(std::unique_ptr<ProfileStore> store,
                     postgres::PostgresProfileStore::Open(path));
    return store;
  }
  RETURN_IF_ERROR(CheckFile(path));
  ASSIGN_OR_RETURN(std::unique_ptr<ProfileStore> store,
                   sqlite::SqliteProfileStore::Open(path));
  return store;
}

absl::StatusOr<std::unique_ptr<PlanStore>> OpenPlanStore(
    const std::string& path) {
  if (IsPostgresUrl(path)) return postgres::OpenPostgresPlanStore(path);
  RETURN_IF_ERROR(CheckFile(path));
  return sqlite::OpenSqlitePlanStore(path);
}

absl::StatusOr<std::string> FindDefaultStore() {
  const char* const data = std::getenv("XDG_DATA_HOME");
  if (data != nullptr && data[0] == '/') {
    return absl::StrCat(data, "/meshwright/profiles.db");
  }
  const char* const home = std::getenv("HOME");
  if (home != nullptr && home[0] != '\0') {
    return absl::StrCat(home, "/.local/share/meshwright/profiles.db");
  }
  return absl::NotFoundError(
      "neither XDG_DATA_HOME nor HOME says where the store is");
}

}  // namespace meshwright::store
