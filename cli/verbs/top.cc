// top: a coordinator at work, drawn again and again.
#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/interrupt.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "cli/flags/device_flags.h"
#include "cli/flags/security_flags.h"
#include "cli/text/top_text.h"
#include "cli/verbs/verbs.h"
#include "coordinator/client/planning_client.h"

namespace meshwright::cli {
namespace {

using client::PlanningClient;

constexpr v1::PlanState kNotEnded[] = {v1::QUEUED, v1::ANALYSING, v1::MEASURING,
                                       v1::WAITING, v1::SEARCHING};

struct TopFlags {
  std::string address = kDefaultAddress;
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

void Draw(const Context& context, const TopFlags& flags,
          const TopFrame& frame) {
  std::string text = FormatTop(frame);
  if (context.json) {
    text = TopToJson(frame).dump() + "\n";
  } else if (!flags.once) {
    text = RedrawScreen(text);
  }
  *context.out << text << std::flush;
}

// False: a stop was requested before the time was over.
bool WaitFor(absl::Duration time, const std::stop_token& stop) {
  base::Mutex mutex;
  bool is_stopped = false;
  const std::stop_callback wake(stop, [&] {
    base::MutexLock lock(&mutex);
    is_stopped = true;
  });
  base::MutexLock lock(&mutex);
  return !mutex.AwaitWithTimeout(absl::Condition(&is_stopped), time);
}

absl::Status ShowTop(const Context& context, const TopFlags& flags) {
  const base::Interrupt interrupt;
  ASSIGN_OR_RETURN(const auto client,
                   PlanningClient::Connect(
                       flags.address, base::WithEnvironment(flags.security)));
  ASSIGN_OR_RETURN(TopFrame frame, AskForFrame(context, flags, *client));
  Draw(context, flags, frame);
  while (!flags.once &&
         WaitFor(absl::Seconds(flags.interval), interrupt.token())) {
    if (!*context.out) return absl::OkStatus();  // nobody reads on
    absl::StatusOr<TopFrame> next = AskForFrame(context, flags, *client);
    if (next.ok()) {
      frame = *std::move(next);
    } else if (absl::IsUnavailable(next.status()) ||
               absl::IsDeadlineExceeded(next.status())) {
      frame.trouble = std::string(next.status().message());
    } else {
      return next.status();
    }
    Draw(context, flags, frame);
  }
  return absl::OkStatus();
}

}  // namespace

void AddTopVerb(CLI::App& app, Context& context) {
  const auto [verb, flags] = AddVerb(
      app, context, "top",
      "show a coordinator's workers and plans at work, until Ctrl-C", ShowTop);
  verb->add_option("--interval", flags->interval, "seconds between two frames")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 3600.0));
  verb->add_option("--plans", flags->plans, "show at most this many plans")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  verb->add_flag("--once", flags->once, "print one frame and end");
  verb->add_option("--coordinator", flags->address, "HOST:PORT")
      ->capture_default_str();
  AddClientSecurityFlags(*verb, &flags->security);
}

}  // namespace meshwright::cli
