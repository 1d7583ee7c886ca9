// LeaseId: names what a worker was given, across restarts of the coordinator.
//
// Concept: every start of a coordinator is an *epoch* (store::PlanStore); the
// leases that it gives are numbered from 1. So a word about a lease of an
// earlier epoch is known as such, whoever says it.
// In → Out: the text is "EPOCH.NUMBER", "7.12".
// Threads: pure functions.
// Errors: ParseLeaseId gives kInvalidArgument for a text that is none.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_LEASE_ID_H_
#define MESHWRIGHT_COORDINATOR_JOBS_LEASE_ID_H_

#include <compare>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace meshwright::jobs {

struct LeaseId {
  int64_t epoch = 0;
  int64_t number = 0;

  friend auto operator<=>(const LeaseId&, const LeaseId&) = default;  // NOLINT
};

std::string FormatLeaseId(LeaseId id);
absl::StatusOr<LeaseId> ParseLeaseId(absl::string_view text);

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_LEASE_ID_H_
