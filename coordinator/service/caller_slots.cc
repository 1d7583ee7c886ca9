#include "coordinator/service/caller_slots.h"

#include <memory>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "coordinator/plans/leadership.h"

namespace meshwright::service {

absl::StatusOr<CallSlots::Slot> TakeSlot(const ServiceContext& context,
                                         const security::Call& call,
                                         CallSlots* slots, int places) {
  // A caller that is none is turned away elsewhere.
  const auto caller = context.guard->Identify(call);
  const std::string who = caller.ok() ? caller->id : "";
  absl::StatusOr<CallSlots::Slot> slot = slots->Take(who, places);
  if (!slot.ok()) context.guard->Record(call, who, slot.status());
  return slot;
}

absl::StatusOr<CallSlots::Slot> TakeStream(const ServiceContext& context,
                                           const security::Call& call) {
  return TakeSlot(context, call, context.held);
}

absl::StatusOr<CallSlots::Slot> TakeMeasuringSlot(const ServiceContext& context,
                                                  const security::Call& call) {
  if (*context.draining) {
    return absl::UnavailableError("the coordinator drains and takes no runs");
  }
  RETURN_IF_ERROR(
      plans::CheckLeads(context.leadership, "has programs measured"));
  ASSIGN_OR_RETURN(CallSlots::Slot stream, TakeStream(context, call));
  ASSIGN_OR_RETURN(CallSlots::Slot run,
                   TakeSlot(context, call, context.measurements));
  return CallSlots::Slot(
      std::make_shared<std::pair<CallSlots::Slot, CallSlots::Slot>>(
          std::move(stream), std::move(run)));
}

}  // namespace meshwright::service
