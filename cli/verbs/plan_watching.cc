#include "cli/verbs/plan_watching.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cli/text/progress.h"
#include "cli/text/tame.h"

namespace meshwright::cli {

absl::StatusOr<v1::Plan> WatchPlanToEnd(const Context& context,
                                        client::PlanningClient& client,
                                        const std::string& id,
                                        const std::stop_token& stop) {
  ProgressDisplay display(context.err, context.terminal, context.clock);
  absl::StatusOr<v1::Plan> plan =
      absl::InternalError(absl::StrCat("the coordinator said no end of ", id));
  std::string waits_for;
  v1::WatchPlanRequest request;
  request.set_id(id);
  RETURN_IF_ERROR(client.WatchPlan(
      request,
      [&](const v1::PlanUpdate& update) {
        if (update.has_progress()) display.Show(update.progress());
        if (update.state() == v1::WAITING && update.reason() != waits_for) {
          display.Close();
          waits_for = update.reason();
          *context.err << id << " waits: " << Tame(waits_for) << "\n"
                       << std::flush;
        } else if (update.state() == v1::DONE) {
          plan = update.plan();
        } else if (update.state() == v1::FAILED) {
          plan =
              absl::Status(static_cast<absl::StatusCode>(update.error_code()),
                           update.reason());
        } else if (update.state() == v1::CANCELLED) {
          plan = absl::CancelledError(absl::StrCat(id, ": ", update.reason()));
        }
      },
      stop));
  return plan;
}

}  // namespace meshwright::cli
