// ProfileTables: the tables `profiles` and `measurements` of one connection.
//
// Concept: `profiles` has the summary of a key, which a look-up reads alone;
// `measurements` has what it was made from. The measurement whose times the
// summary has is not stored twice: its `result` is NULL.
//
//   profiles      id 7 | shared | key | MEASURED | GOOD | summary | ...
//   measurements  7, 0 | newest | host ... | result
//                 7, 1 |        | host ... | NULL: that of the summary
//
// Threads and ownership: those of its database, which outlives it. Writes need
// a transaction around them.
// Errors: those of Database. Damage to a row is a value, no error.
#ifndef MESHWRIGHT_PROFILEDB_TABLES_PROFILE_TABLES_H_
#define MESHWRIGHT_PROFILEDB_TABLES_PROFILE_TABLES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "profiledb/store/profile_store.h"
#include "profiledb/tables/database.h"

namespace meshwright::tables {

struct StoredProfile {
  int64_t id = 0;
  std::string team;
  std::string key;
  v1::ProfileResult result;
  int64_t last_used_day = 0;  // days since 1970 UTC
  // Of the summary; in a visit with that of the program of its key.
  int64_t bytes = 0;
  std::string damage;  // empty: it is sound
};

class ProfileTables {
 public:
  // Returns false to stop.
  using Visit =
      std::function<absl::StatusOr<bool>(StoredProfile&, const store::Origin&)>;

  // Of a database with its schema, which outlives it. Errors here and below:
  // those of the database.
  static absl::StatusOr<std::unique_ptr<ProfileTables>> Open(
      Database& database);

  // nullopt: no row. A damaged row is found, and says what is wrong with it.
  absl::StatusOr<std::optional<StoredProfile>> Find(const std::string& team,
                                                    const std::string& key);

  // The rows that there are, in any order. `keys` are keys.
  absl::Status FindMany(const std::string& team,
                        absl::Span<const std::string> keys,
                        const std::function<void(StoredProfile)>& visit);

  struct Kept {
    std::vector<store::KeptRow> rows;  // newest first, the sound ones
    int damaged = 0;
    int64_t bytes = 0;  // beside the summary's
  };
  // The measurements of a row; damaged ones are counted and left out, as are
  // those of no quality or of after 2100, and more than kMaximumKept.
  absl::StatusOr<Kept> ReadKept(const StoredProfile& profile);

  // Replaces what is known of a key. `kept` has at least one row.
  absl::Status Write(const std::string& team, const std::string& key,
                     absl::Span<const store::KeptRow> kept, int64_t day);

  // The row and what it keeps. An unknown id: nothing.
  absl::Status Remove(int64_t id);
  // CRASHED rows of every team.
  absl::Status RemoveCrashed(const std::string& key);
  // Looked up on this day; a few statements for all.
  absl::Status Touch(const absl::flat_hash_set<int64_t>& ids, int64_t day);

  // Namespaces that have rows.
  absl::StatusOr<std::vector<std::string>> ListTeams();
  // Adds the rows of each outcome.
  absl::Status Count(store::Statistics& statistics);
  // By namespace and key, a page at a time; needs a transaction around it.
  // `visit` may read what a row keeps.
  absl::Status ForEach(const Visit& visit);

 private:
  ProfileTables(std::vector<std::unique_ptr<Statement>> statements,
                bool has_arrays)
      : statements_(std::move(statements)), has_arrays_(has_arrays) {}

  absl::StatusOr<int64_t> WriteSummary(const std::string& team,
                                       const std::string& key,
                                       const v1::ProfileResult& result,
                                       int64_t day);
  absl::Status WriteKept(int64_t id, int64_t number, const store::KeptRow& row,
                         bool is_chosen);

  std::vector<std::unique_ptr<Statement>> statements_;
  const bool has_arrays_;
};

}  // namespace meshwright::tables

#endif  // MESHWRIGHT_PROFILEDB_TABLES_PROFILE_TABLES_H_
