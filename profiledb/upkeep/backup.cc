#include "profiledb/upkeep/backup.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/log/log.h"
#include "base/private_folder.h"
#include "base/status_macros.h"
#include "profiledb/open.h"
#include "profiledb/sqlite/sqlite_profile_store.h"
#include "profiledb/upkeep/copy_store.h"

namespace meshwright::store {
namespace {

constexpr char kFolderPrefix[] = "meshwright-backup-";

absl::Status CopyToFile(const std::string& url, const std::string& file,
                        const BackupOptions& options) {
  ASSIGN_OR_RETURN(const auto from, OpenProfileStore(url));
  ASSIGN_OR_RETURN(const auto to, sqlite::SqliteProfileStore::Open(
                                      file, {.max_bytes = options.max_bytes}));
  ASSIGN_OR_RETURN(const auto from_plans, OpenPlanStore(url));
  ASSIGN_OR_RETURN(const auto to_plans, OpenPlanStore(file));
  ASSIGN_OR_RETURN(const v1::MigrateReport report,
                   CopyWholeStore({from.get(), from_plans.get()},
                                  {to.get(), to_plans.get()}));
  for (const v1::LeftRow& row : report.left_rows()) {
    base::LogWarning("backup: left out: ", row.reason());
  }
  return absl::OkStatus();
}

// With the files that SQLite keeps beside it.
void RemoveStore(const std::string& file) {
  std::error_code ignored;
  for (const char* const suffix : {"", "-journal", "-wal", "-shm"}) {
    std::filesystem::remove(file + suffix, ignored);
  }
}

}  // namespace

absl::Status CheckStoreExists(const std::string& store) {
  std::error_code error;
  if (IsPostgresUrl(store) || std::filesystem::exists(store, error)) return {};
  return absl::NotFoundError(absl::StrCat(
      "there is no store ", store,
      "; check the path, or make the store with `meshwright plan`"));
}

absl::StatusOr<v1::BackupReport> BackUpStore(const std::string& store,
                                             const std::string& file,
                                             const BackupOptions& options) {
  RETURN_IF_ERROR(CheckStoreExists(store));
  std::error_code error;
  if (std::filesystem::exists(file, error)) {
    return absl::AlreadyExistsError(
        absl::StrCat(file, " is there already; name a new file"));
  }
  const std::string partial = absl::StrCat(file, ".partial.", getpid());
  absl::Status status = IsPostgresUrl(store)
                            ? CopyToFile(store, partial, options)
                            : sqlite::SqliteProfileStore::BackUp(
                                  store, partial, options.max_bytes);
  if (status.ok() && std::rename(partial.c_str(), file.c_str()) != 0) {
    status = absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", file));
  }
  RemoveStore(partial);
  RETURN_IF_ERROR(status);
  v1::BackupReport report;
  report.set_store(DescribeStorePath(store));
  report.set_file(file);
  report.set_bytes(
      static_cast<int64_t>(std::filesystem::file_size(file, error)));
  return report;
}

absl::StatusOr<OutgoingBackup> MakeOutgoingBackup(const std::string& store) {
  const std::string parent = base::FindTemporaryFolder();
  base::PrivateFolder::Sweep(parent, kFolderPrefix);
  ASSIGN_OR_RETURN(auto folder,
                   base::PrivateFolder::Make(parent, kFolderPrefix));
  const std::string name = folder->path() + "/store.db";
  absl::StatusOr<v1::BackupReport> report = BackUpStore(store, name);
  base::OwnedFile file(report.ok() ? std::fopen(name.c_str(), "rbe") : nullptr);
  const int error = errno;
  folder.reset();
  RETURN_IF_ERROR(report.status());
  if (file == nullptr) {
    return absl::ErrnoToStatus(error, absl::StrCat("cannot read ", name));
  }
  report->clear_file();
  return OutgoingBackup{std::move(file), *std::move(report)};
}

}  // namespace meshwright::store
