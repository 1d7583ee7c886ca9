// Precedence: what a new result does to the row of its key (table in
// profile_store.h).
//
// Threads: pure functions.
// Errors: NotQuarantined makes the kNotFound of a key that RetryQuarantined
// does not know.
#ifndef MESHWRIGHT_PROFILEDB_STORE_PRECEDENCE_H_
#define MESHWRIGHT_PROFILEDB_STORE_PRECEDENCE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "profiledb/store/profile_store.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::store {

// Neither measured nor pruned: worth another try.
bool IsFailure(v1::Outcome outcome);

// Whether a look-up leaves such a row out, unless its program is quarantined.
bool IsRetried(v1::Outcome outcome, const LookupOptions& options);

// Measured above pruned above failed.
int Rank(v1::Outcome outcome);

// A result as it is kept: its samples compacted, without what only a summary
// says, its device known.
KeptRow MakeKept(const v1::ProfileResult& result, const Origin& origin);

// Whether two rows of a key are one measurement that came twice.
bool IsSame(const KeptRow& a, const KeptRow& b);

// Adds a row to those of its key, which are newest first and of one rank. Where
// there is no room, one of the future goes, the latest first, else the oldest:
// rows of a clock that is ahead keep no current one out. The future begins a
// minute after `now`, since clocks differ. Returns whether they changed.
bool Admit(const KeptRow& row, std::vector<KeptRow>& kept, Nanoseconds now);

// The end of a quarantined program's log.
std::string_view CutLog(std::string_view log);

absl::Status NotQuarantined(const std::string& key);

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_STORE_PRECEDENCE_H_
