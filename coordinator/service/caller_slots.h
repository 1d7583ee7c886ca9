// The places that a call takes of CallSlots, of its caller's share.
//
// Concept: a caller with a token or a certificate has a share of its own; the
// others have what is left of all. Ownership: a slot may outlive the call.
// Threads: any.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_CALLER_SLOTS_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_CALLER_SLOTS_H_

#include "absl/status/statusor.h"
#include "coordinator/security/guard.h"
#include "coordinator/service/call_slots.h"
#include "coordinator/service/service_context.h"

namespace meshwright::service {

// Places of `slots`, of the caller's share. Errors: those of CallSlots::Take,
// each also an entry of the audit log.
absl::StatusOr<CallSlots::Slot> TakeSlot(const ServiceContext& context,
                                         const security::Call& call,
                                         CallSlots* slots, int places = 1);

// For a call that stays open. Errors: those of TakeSlot.
absl::StatusOr<CallSlots::Slot> TakeStream(const ServiceContext& context,
                                           const security::Call& call);

// For a call that has programs measured. Errors: kUnavailable while the
// coordinator drains, those of TakeSlot and Leadership::CheckLeads.
absl::StatusOr<CallSlots::Slot> TakeMeasuringSlot(const ServiceContext& context,
                                                  const security::Call& call);

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_CALLER_SLOTS_H_
