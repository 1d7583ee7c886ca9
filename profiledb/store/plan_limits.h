// PlanLimits: what the plans of one namespace may take of a coordinator.
//
// Concept: a store counts the namespace's plans that have not ended, or all
// that it keeps, and adds a new one in the same transaction. Two submissions at
// once, even at two coordinators, do not both take the last place.
// Threads: pure functions. Errors: kResourceExhausted, one sentence that says
// the limit, the way out and whom to ask.
#ifndef MESHWRIGHT_PROFILEDB_STORE_PLAN_LIMITS_H_
#define MESHWRIGHT_PROFILEDB_STORE_PLAN_LIMITS_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "proto/v1/plan_record.pb.h"

namespace meshwright::store {

struct PlanLimits {
  std::optional<int64_t> plans;         // that have not ended
  std::optional<int64_t> module_bytes;  // of these plans together
  // Of what was asked for all kept plans, and of their modules, each once.
  std::optional<int64_t> stored_bytes;

  bool IsEmpty() const { return !plans && !module_bytes && !stored_bytes; }
};

// Whether `record` may be added beside the plans of its namespace. Those that
// have ended may be missing where `stored_bytes` is no limit.
absl::Status CheckLimits(const PlanLimits& limits, const v1::PlanRecord& record,
                         absl::Span<const v1::PlanRecord> plans);

// Of what was asked, without the module.
int64_t CountRequestBytes(const v1::PlanRecord& plan);

// Of a plan that has asked for so many programs. `record.max_programs` 0: no
// limit.
absl::Status CheckPrograms(const v1::PlanRecord& record, int64_t programs);

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_STORE_PLAN_LIMITS_H_
