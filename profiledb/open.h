// OpenProfileStore, OpenPlanStore: the store at a path, its folders made. Both
// are one file.
//
// Errors: those of sqlite::SqliteProfileStore::Open; kPermissionDenied or
// kResourceExhausted for a folder that cannot be made.
#ifndef MESHWRIGHT_PROFILEDB_OPEN_H_
#define MESHWRIGHT_PROFILEDB_OPEN_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "profiledb/store/plan_store.h"
#include "profiledb/store/profile_store.h"

namespace meshwright::store {

absl::StatusOr<std::unique_ptr<ProfileStore>> OpenProfileStore(
    const std::string& path);

absl::StatusOr<std::unique_ptr<PlanStore>> OpenPlanStore(
    const std::string& path);

// $XDG_DATA_HOME/meshwright/profiles.db, or ~/.local/share/... where that is
// unset. kNotFound where $HOME is unset too.
absl::StatusOr<std::string> DefaultStorePath();

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_OPEN_H_
