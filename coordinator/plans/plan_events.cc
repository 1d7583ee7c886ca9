#include "coordinator/plans/plan_events.h"

#include <utility>

namespace meshwright::plans {

PlanEvents TranslateUpdate(v1::PlanUpdate update) {
  PlanEvents translated;
  v1::PlanEvent event;
  if (update.has_progress()) *event.mutable_progress() = update.progress();
  switch (update.state()) {
    case v1::DONE:
      *event.mutable_plan() = std::move(*update.mutable_plan());
      translated.end = absl::OkStatus();
      break;
    case v1::FAILED:
      translated.end = absl::Status(
          static_cast<absl::StatusCode>(update.error_code()), update.reason());
      break;
    case v1::CANCELLED:
      translated.end = absl::CancelledError(update.reason());
      break;
    case v1::WAITING:
      event.mutable_progress()->set_phase("wait");
      event.mutable_progress()->set_message(update.reason());
      break;
    default:
      break;
  }
  if (event.event_case() != v1::PlanEvent::EVENT_NOT_SET) {
    translated.events.push_back(std::move(event));
  }
  return translated;
}

}  // namespace meshwright::plans
