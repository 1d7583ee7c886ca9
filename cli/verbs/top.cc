// top: a coordinator at work, drawn again and again.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "cli/flags/security_flags.h"
#include "cli/flags/watch_flag.h"
#include "cli/program/limit_seconds.h"
#include "cli/text/top_text.h"
#include "cli/verbs/verbs.h"
#include "coordinator/client/planning_client.h"

namespace meshwright::cli {
namespace {

using client::PlanningClient;

constexpr v1::PlanState kNotEnded[] = {v1::QUEUED, v1::ANALYSING, v1::MEASURING,
                                       v1::WAITING, v1::SEARCHING};

struct TopFlags {
  std::string address;
  base::ChannelSecurity security;
  double interval = 1;  // seconds
  int plans = 40;
  bool once = false;
};

absl::StatusOr<TopFrame> AskForFrame(const Context& context,
                                     const TopFlags& flags,
                                     PlanningClient& client) {
  TopFrame frame;
  frame.address = flags.address;
  frame.asked = context.clock->Now();
  v1::ListPlansRequest request;
  for (const v1::PlanState state : kNotEnded) request.add_states(state);
  request.set_page_size(flags.plans);
  ASSIGN_OR_RETURN(frame.workers, client.ListWorkers());
  ASSIGN_OR_RETURN(frame.jobs, client.ListJobs());
  ASSIGN_OR_RETURN(frame.plans, client.ListPlans(request));
  return frame;
}

absl::Status ShowTop(const Context& context, const TopFlags& flags) {
  ASSIGN_OR_RETURN(const auto client,
                   PlanningClient::Connect(
                       flags.address, base::WithEnvironment(flags.security)));
  WatchFlag watch;
  if (!flags.once) watch.seconds = flags.interval;
  return ShowListing(*context.out, context.json, watch,
                     [&]() -> absl::StatusOr<Listing> {
                       ASSIGN_OR_RETURN(const TopFrame frame,
                                        AskForFrame(context, flags, *client));
                       return Listing{FormatTop(frame), TopToJson(frame)};
                     });
}

}  // namespace

void AddTopVerb(CLI::App& app, Context& context) {
  const auto [verb, flags] = AddVerb(
      app, context, "top",
      "show a coordinator's workers and plans at work, until Ctrl-C", ShowTop);
  LimitSeconds(verb->add_option("--interval", flags->interval,
                                "seconds between two frames")
                   ->capture_default_str(),
               0.1, 3600.0);
  verb->add_option("--plans", flags->plans, "show at most this many plans")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  verb->add_flag("--once", flags->once, "print one frame and end");
  AddAddressFlags(*verb, &flags->address, &flags->security);
}

}  // namespace meshwright::cli
