#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/status_macros.h"
#include "cli/flags/arguments.h"
#include "cli/flags/plan_file.h"
#include "cli/flags/security_flags.h"
#include "cli/text/format.h"
#include "cli/text/table.h"
#include "cli/verbs/verbs.h"
#include "coordinator/client/planning_client.h"
#include "coordinator/resharding/answer_message.h"
#include "coordinator/resharding/request_json.h"
#include "planner/reshard/solve.h"

namespace meshwright::cli {
namespace {

struct ReshardFlags {
  std::string tasks;
  std::string coordinator;
  base::ChannelSecurity security;
  std::string solver = "auto";
  std::optional<double> deadline_seconds;
  uint64_t seed = 1;
};

absl::StatusOr<reshard::Options> ReadOptions(const ReshardFlags& arguments,
                                             const std::stop_token& stop) {
  reshard::Options options;
  const auto solver = reshard::ParseSolver(arguments.solver);
  if (!solver.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--solver: ", solver.status().message()));
  }
  options.solver = *solver;
  options.seed = arguments.seed;
  ASSIGN_OR_RETURN(options.deadline,
                   ParseDeadline(arguments.deadline_seconds, stop));
  return options;
}

// A line per send, in order.
std::string FormatSchedule(const resharding::Request& request,
                           const reshard::Answer& answer) {
  const reshard::ReshardProblem& problem = request.problem;
  const reshard::Durations durations(problem);
  std::vector<TableRow> rows;
  for (size_t i = 0; i < answer.schedule.size(); ++i) {
    const reshard::Send& send = answer.schedule[i];
    const reshard::UnitTask& task = problem.tasks[send.task];
    std::vector<std::string> receivers;
    for (const int host : task.receivers) {
      receivers.push_back(problem.hosts[host].name);
    }
    rows.push_back({task.id, FormatBytes(send.bytes),
                    FormatSeconds(durations.Seconds(answer.timing.start[i])),
                    FormatSeconds(durations.Seconds(answer.timing.end[i])),
                    absl::StrCat(problem.hosts[send.sender].name,
                                 receivers.empty() ? ", no network" : " -> ",
                                 absl::StrJoin(receivers, ", "))});
  }
  return absl::StrCat(
      answer.schedule.size(), " sends in ",
      FormatSeconds(answer.makespan_seconds),
      answer.optimal
          ? ", proven optimal"
          : ", lower bound " + FormatSeconds(answer.lower_bound_seconds),
      " (", answer.solver, ", ", FormatSeconds(answer.elapsed.count()), ")\n",
      FormatTable({{"task", Align::kLeft},
                   {"size"},
                   {"start"},
                   {"end"},
                   {"hosts", Align::kLeft}},
                  rows, /*indent=*/2));
}

// An answer, and whether it was searched for.
struct Asked {
  reshard::Answer answer;
  bool cached = false;
};

absl::StatusOr<Asked> AskForSchedule(const ReshardFlags& arguments,
                                     const resharding::JsonRequest& request,
                                     const std::stop_token& stop) {
  v1::ReshardingRequest message = request.message;
  message.set_solver(arguments.solver);
  message.set_seed(arguments.seed);
  if (arguments.deadline_seconds.has_value()) {
    message.set_deadline_seconds(*arguments.deadline_seconds);
  }
  ASSIGN_OR_RETURN(
      const std::unique_ptr<client::PlanningClient> client,
      client::PlanningClient::Connect(
          arguments.coordinator, base::WithEnvironment(arguments.security)));
  ASSIGN_OR_RETURN(const v1::ReshardingAnswer said,
                   client->PlanResharding(message, stop));
  Asked asked{.cached = said.cached()};
  ASSIGN_OR_RETURN(asked.answer,
                   resharding::AnswerFromMessage(request.request, said));
  return asked;
}

absl::Status RunReshard(const Context& context, const ReshardFlags& arguments) {
  const base::Interrupt interrupt;
  ASSIGN_OR_RETURN(const reshard::Options options,
                   ReadOptions(arguments, interrupt.token()));
  ASSIGN_OR_RETURN(const std::string text, base::ReadFile(arguments.tasks));
  ASSIGN_OR_RETURN(
      const resharding::JsonRequest request,
      NamePath(resharding::RequestFromJson(text), arguments.tasks));
  Asked asked;
  if (arguments.coordinator.empty()) {
    ASSIGN_OR_RETURN(asked.answer,
                     reshard::Solve(request.request.problem, options));
  } else {
    ASSIGN_OR_RETURN(asked,
                     AskForSchedule(arguments, request, interrupt.token()));
    *context.err << (asked.cached ? "the coordinator knew the answer\n"
                                  : "the coordinator searched\n");
  }
  if (context.json) {
    *context.out << resharding::AnswerToJson(
                        request, resharding::AnswerToMessage(request.request,
                                                             asked.answer))
                 << "\n";
  } else {
    *context.out << FormatSchedule(request.request, asked.answer);
  }
  return absl::OkStatus();
}

}  // namespace

void AddReshardVerb(CLI::App& app, Context& context) {
  const auto [verb, arguments] = AddVerb(
      app, context, "reshard",
      "schedule the transfers of a tensor between two meshes", RunReshard);
  verb->add_option("--tasks", arguments->tasks,
                   "unit tasks, or a tensor and its meshes, as JSON")
      ->required();
  verb->add_option(
      "--coordinator", arguments->coordinator,
      "HOST:PORT of a coordinator, which solves equal problems once");
  AddClientSecurityFlags(*verb, &arguments->security);
  verb->add_option(
      "--solver", arguments->solver,
      "auto, or one of the paper: naive, load-balance, depth-first, "
      "randomized, ensemble");
  verb->add_option("--deadline", arguments->deadline_seconds,
                   "print the best schedule after this many seconds");
  verb->add_option("--seed", arguments->seed, "seed of the random solvers");
}

}  // namespace meshwright::cli
