// OpenProfileStore, OpenPlanStore: the store at a path, its folders made, or at
// a URL of PostgreSQL: postgres://USER@HOST:PORT/DATABASE. Both are one
// database. The command line takes no password (cli/flags/store_address.h).
//
// Errors: those of sqlite::SqliteProfileStore::Open and of
// postgres::PostgresProfileStore::Open; kInvalidArgument for an empty path or a
// folder in place of the file; kFailedPrecondition for a file with several hard
// links; kPermissionDenied or kResourceExhausted for a folder that cannot be
// made. No message holds a password.
#ifndef MESHWRIGHT_PROFILEDB_OPEN_H_
#define MESHWRIGHT_PROFILEDB_OPEN_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "profiledb/store/plan_store.h"
#include "profiledb/store/profile_store.h"

namespace meshwright::store {

// The path, or the URL without its password: for people to read.
std::string DescribeStorePath(const std::string& path);

// Whether it begins with postgres:// or postgresql://.
bool IsPostgresUrl(std::string_view path);

absl::StatusOr<std::unique_ptr<ProfileStore>> OpenProfileStore(
    const std::string& path);

absl::StatusOr<std::unique_ptr<PlanStore>> OpenPlanStore(
    const std::string& path);

// $XDG_DATA_HOME/meshwright/profiles.db, or ~/.local/share/... where that is
// unset. kNotFound where $HOME is unset too.
absl::StatusOr<std::string> FindDefaultStore();

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_OPEN_H_
