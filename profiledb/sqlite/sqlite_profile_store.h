// SqliteProfileStore: the ProfileStore in one file, embedded.
//
// Concept: write-ahead log with full synchronisation. Several processes may
// open one file.
// Errors of opening: kFailedPrecondition for a store of a newer version,
// kInvalidArgument for a file that is no store, kPermissionDenied,
// kResourceExhausted. Each is one sentence, and the file is left as it was. See
// docs/formats/store.md.
#ifndef MESHWRIGHT_PROFILEDB_SQLITE_SQLITE_PROFILE_STORE_H_
#define MESHWRIGHT_PROFILEDB_SQLITE_SQLITE_PROFILE_STORE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "profiledb/store/plan_store.h"
#include "profiledb/tables/table_profile_store.h"

namespace meshwright::sqlite {

struct SqliteOptions {
  // The file may not grow beyond this; writes then say that the disk is full.
  std::optional<int64_t> max_bytes;
  // Outlives the store; null: the system's.
  const base::Clock* clock = nullptr;
};

class SqliteProfileStore : public tables::TableProfileStore {
 public:
  // Makes the file where there is none, and migrates one of an older version.
  // Errors: see above.
  static absl::StatusOr<std::unique_ptr<SqliteProfileStore>> Open(
      const std::string& path, const SqliteOptions& options = {});

  // Copies the file `from`, of one moment, into a new file `to`, while other
  // processes read and write it. kNotFound, kInvalidArgument for a file that is
  // no store, kResourceExhausted: the disk is full; `to` is then removed.
  static absl::Status BackUp(const std::string& from, const std::string& to,
                             std::optional<int64_t> max_bytes = {});

 private:
  using TableProfileStore::TableProfileStore;
};

// The PlanStore in the file of a profile store. Errors: see above.
absl::StatusOr<std::unique_ptr<store::PlanStore>> OpenSqlitePlanStore(
    const std::string& path);

}  // namespace meshwright::sqlite

#endif  // MESHWRIGHT_PROFILEDB_SQLITE_SQLITE_PROFILE_STORE_H_
