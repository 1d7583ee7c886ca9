// PostgresProfileStore: the ProfileStore in a PostgreSQL database, which many
// processes on many machines share.
//
// Concept: the tables and rules of every store (profiledb/tables) over three
// connections of this process. Commits of all processes take turns. The next
// call makes a lost connection again. One write that was under way then may or
// may not have been made; recording it again counts it once.
// Errors of opening: kInvalidArgument for a URL that is none, a database that
// does not exist or one of another program, kPermissionDenied,
// kFailedPrecondition for a store of a newer version, kUnavailable for a server
// that does not answer. Each is one sentence, without the password. See
// docs/formats/store.md.
#ifndef MESHWRIGHT_PROFILEDB_POSTGRES_POSTGRES_PROFILE_STORE_H_
#define MESHWRIGHT_PROFILEDB_POSTGRES_POSTGRES_PROFILE_STORE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "profiledb/store/plan_store.h"
#include "profiledb/tables/table_profile_store.h"

namespace meshwright::postgres {

class PostgresProfileStore : public tables::TableProfileStore {
 public:
  // `clock` outlives the store; null: the system's.
  static absl::StatusOr<std::unique_ptr<PostgresProfileStore>> Open(
      const std::string& url, const base::Clock* clock = nullptr);

 private:
  using TableProfileStore::TableProfileStore;
};

// The PlanStore in the database of a profile store. Errors: see above.
absl::StatusOr<std::unique_ptr<store::PlanStore>> OpenPostgresPlanStore(
    const std::string& url);

}  // namespace meshwright::postgres

#endif  // MESHWRIGHT_PROFILEDB_POSTGRES_POSTGRES_PROFILE_STORE_H_
