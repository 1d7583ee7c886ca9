// Precedence: which of two rows of one key stays (table in profile_store.h).
//
// Errors: kInvalidArgument for a row that cannot be stored.
#ifndef MESHWRIGHT_PROFILEDB_STORE_PRECEDENCE_H_
#define MESHWRIGHT_PROFILEDB_STORE_PRECEDENCE_H_

#include "absl/status/status.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::store {

// Neither measured nor pruned: worth another try.
bool IsFailure(v1::Outcome outcome);

// Measured above pruned above failed.
int Rank(v1::Outcome outcome);

// Whether a new row takes the place of the one there is.
bool Replaces(v1::Outcome there, v1::Outcome comes);

absl::Status CheckRow(const v1::ProfileResult& result);

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_STORE_PRECEDENCE_H_
