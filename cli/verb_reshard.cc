#include <CLI/CLI.hpp>
#include <algorithm>
#include <iomanip>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/status_macros.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "planner/reshard/reshard_json.h"

namespace meshwright::cli {
namespace {

struct Arguments {
  std::string tasks;
  std::string solver = "auto";
  std::optional<double> deadline_seconds;
  uint64_t seed = 1;
};

absl::StatusOr<reshard::Options> ReadOptions(const Arguments& arguments) {
  reshard::Options options;
  const auto solver = reshard::SolverFromName(arguments.solver);
  if (!solver.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--solver: ", solver.status().message()));
  }
  options.solver = *solver;
  options.seed = arguments.seed;
  ASSIGN_OR_RETURN(options.interrupt.deadline,
                   DeadlineIn(arguments.deadline_seconds));
  return options;
}

// A line per send, in order.
void Print(const reshard::Request& request, const reshard::Answer& answer,
           std::ostream& out) {
  const reshard::ReshardProblem& problem = request.problem;
  const reshard::Durations durations(problem);
  out << answer.schedule.size() << " sends in "
      << FormatSeconds(answer.makespan_seconds);
  if (answer.optimal) {
    out << ", which is the least";
  } else {
    out << ", at least " << FormatSeconds(answer.lower_bound_seconds);
  }
  out << " (" << answer.solver << ", " << FormatSeconds(answer.elapsed.count())
      << ")\n";
  size_t width = 4;
  for (const reshard::UnitTask& task : problem.tasks) {
    width = std::max(width, task.id.size());
  }
  const auto row = [&](const std::string& id, const std::string& size,
                       const std::string& start, const std::string& end,
                       const std::string& hosts) {
    out << "  " << std::left << std::setw(static_cast<int>(width)) << id
        << std::right << std::setw(12) << size << std::setw(12) << start
        << std::setw(12) << end << "  " << hosts << "\n";
  };
  row("task", "size", "start", "end", "hosts");
  for (size_t i = 0; i < answer.schedule.size(); ++i) {
    const reshard::Send& send = answer.schedule[i];
    const reshard::UnitTask& task = problem.tasks[send.task];
    std::vector<std::string> receivers;
    for (const int host : task.receivers) {
      receivers.push_back(problem.hosts[host].name);
    }
    row(task.id, FormatBytes(send.bytes),
        FormatSeconds(durations.Seconds(answer.timing.start[i])),
        FormatSeconds(durations.Seconds(answer.timing.end[i])),
        receivers.empty()
            ? absl::StrCat(problem.hosts[send.sender].name, ", no network")
            : absl::StrCat(problem.hosts[send.sender].name, " -> ",
                           absl::StrJoin(receivers, ", ")));
  }
}

absl::Status Run(const Context& context, const Arguments& arguments) {
  ASSIGN_OR_RETURN(reshard::Options options, ReadOptions(arguments));
  ASSIGN_OR_RETURN(const std::string text, base::ReadFile(arguments.tasks));
  ASSIGN_OR_RETURN(const reshard::Request request,
                   reshard::RequestFromJson(text));
  const base::Interrupt interrupt;
  options.interrupt.stop = interrupt.token();
  ASSIGN_OR_RETURN(const reshard::Answer answer,
                   reshard::Solve(request.problem, options));
  if (context.json) {
    *context.out << reshard::AnswerToJson(request, answer) << "\n";
  } else {
    Print(request, answer, *context.out);
  }
  return absl::OkStatus();
}

}  // namespace

void AddReshardVerb(CLI::App& app, Context& context) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* const verb =
      AddVerb(app, context, "reshard",
              "schedule the transfers of a tensor between two meshes",
              [&context, arguments] { return Run(context, *arguments); });
  verb->add_option("--tasks", arguments->tasks,
                   "unit tasks, or a tensor and its meshes, as JSON")
      ->required();
  verb->add_option("--solver", arguments->solver,
                   "auto, or of the paper: naive, load-balance, depth-first, "
                   "randomized, ensemble");
  verb->add_option("--deadline", arguments->deadline_seconds,
                   "search so many seconds, unless the best is proven before");
  verb->add_option("--seed", arguments->seed, "of what is random");
}

}  // namespace meshwright::cli
