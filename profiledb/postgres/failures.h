// Translates failures of PostgreSQL into statuses of a store.
//
// Concept: SQLSTATE, the five letters of a failure, decides the code; the
// message is the server's, on one line.
// Errors: those of tables::Database.
// Threads: pure functions.
#ifndef MESHWRIGHT_PROFILEDB_POSTGRES_FAILURES_H_
#define MESHWRIGHT_PROFILEDB_POSTGRES_FAILURES_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace meshwright::postgres {

// `store` is its name; `state` may be empty: the server did not answer.
absl::Status ToStatus(const std::string& store, std::string_view state,
                      std::string_view message);

// Whether the server ends the connection, or does not take one yet.
bool EndsConnection(std::string_view state);

// Takes the SQLSTATE out of a message of libpq with verbose errors:
// "... FATAL:  28P01: password ..." -> "28P01"; empty where there is none.
std::string TakeState(std::string& message);

}  // namespace meshwright::postgres

#endif  // MESHWRIGHT_PROFILEDB_POSTGRES_FAILURES_H_
