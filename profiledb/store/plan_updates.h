// Applies updates to the record of a plan, and writes ids of plans as text.
//
// Concept: the stores share these rules, so that they all keep the same plans.
// Threads: pure functions.
// Errors: ParsePlanId gives kInvalidArgument; ApplyUpdate kFailedPrecondition
// for a plan that has ended; CheckContinues kAlreadyExists, kInvalidArgument.
#ifndef MESHWRIGHT_PROFILEDB_STORE_PLAN_UPDATES_H_
#define MESHWRIGHT_PROFILEDB_STORE_PLAN_UPDATES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "profiledb/store/plan_store.h"

namespace meshwright::store {

bool HasEnded(v1::PlanState state);

std::string FormatPlanId(PlanId id);  // "plan-17"
absl::StatusOr<PlanId> ParsePlanId(absl::string_view text);

// kNotFound and kAborted, with the way out.
absl::Status MakeNoSuchPlanError(PlanId id);
absl::Status MakeOldEpochError();

// The first update of every plan, as of `record`.
v1::PlanUpdate MakeQueuedUpdate(const v1::PlanRecord& record);

// Numbers the update and adds it to the record.
absl::Status ApplyUpdate(v1::PlanUpdate& update, v1::PlanRecord& record);

// Checks a plan of another store that has the id of `there`. It passes if
// `there`, whose newest update is `newest`, is the same plan as it was earlier.
// Further on is fine too. `record` and `updates` are those of the other store.
absl::Status CheckContinues(const v1::PlanRecord& there,
                            const v1::PlanUpdate& newest,
                            const v1::PlanRecord& record,
                            absl::Span<const v1::PlanUpdate> updates);

// Whether these are all the updates of the record.
absl::Status CheckWhole(const v1::PlanRecord& record,
                        absl::Span<const v1::PlanUpdate> updates);

// PlanUpdate.row_keys and the keys, in hex; anything else is left out.
std::string PackKeys(const std::vector<std::string>& keys);
std::vector<std::string> UnpackKeys(absl::string_view packed);

// Of a submission whose request id a plan has: an id is one request's.
// kAlreadyExists for another one.
absl::Status CheckIsSame(const v1::PlanRecord& asked,
                         const v1::PlanRecord& kept);
absl::Status MakeRequestIdTakenError(const v1::PlanRecord& record);

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_STORE_PLAN_UPDATES_H_
