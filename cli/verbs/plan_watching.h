// WatchPlanToEnd: a plan of a coordinator, shown until it ends.
//
// Errors: that of a plan that failed, kCancelled for one that was cancelled or
// after a stop, kInternal where no end was said, those of PlanningClient.
#ifndef MESHWRIGHT_CLI_VERBS_PLAN_WATCHING_H_
#define MESHWRIGHT_CLI_VERBS_PLAN_WATCHING_H_

#include <cstdint>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "cli/command/context.h"
#include "coordinator/client/planning_client.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::cli {

absl::StatusOr<v1::Plan> WatchPlanToEnd(const Context& context,
                                        client::PlanningClient& client,
                                        const std::string& id,
                                        const std::stop_token& stop);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_VERBS_PLAN_WATCHING_H_
