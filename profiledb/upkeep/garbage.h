// CollectGarbage: removes rows that nobody is likely to need again.
//
// Concept: three limits, each of which may be absent.
//
//   age      a row goes if its newest measurement is older
//   unused   a row goes if no look-up asked for it for so long
//   bytes    of what is left, the rows that were used longest ago go, until
//            rows and their programs have no more
//
// A row whose key is named to be kept, or that a plan of the store needs
// (plan_needs.h), never goes, but counts. With a row goes the program of its
// key, unless another row or the quarantine names it. The models of plans,
// which belong to no row, stay and do not count (old_plans.h and
// unused_modules.h remove them).
//
// Units: days of UTC; bytes as the store keeps them, without its indexes. A
// file of SQLite keeps its size and uses what is free again.
// Threads: any; a row that is used meanwhile stays. Errors: those of the store.
#ifndef MESHWRIGHT_PROFILEDB_UPKEEP_GARBAGE_H_
#define MESHWRIGHT_PROFILEDB_UPKEEP_GARBAGE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "profiledb/store/profile_store.h"
#include "profiledb/upkeep/plan_needs.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::store {

struct GarbageLimits {
  std::optional<int64_t> maximum_age_days;
  std::optional<int64_t> maximum_unused_days;
  std::optional<int64_t> maximum_bytes;
  absl::flat_hash_set<std::string> keep;  // keys
  PlanNeeds plans;                        // these are kept too
  bool dry_run = false;                   // only says what would go
};

absl::StatusOr<v1::GcReport> CollectGarbage(ProfileStore& store,
                                            const GarbageLimits& limits,
                                            Nanoseconds now);

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_UPKEEP_GARBAGE_H_
