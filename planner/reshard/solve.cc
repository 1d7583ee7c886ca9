#include "planner/reshard/solve.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "planner/reshard/paper/paper_solvers.h"
#include "planner/reshard/problem/instance.h"
#include "planner/reshard/problem/validate.h"
#include "planner/reshard/search_order.h"
#include "planner/reshard/split.h"

namespace meshwright::reshard {
namespace {

constexpr std::pair<const char*, Solver> kNames[] = {
    {"auto", Solver::kAuto},
    {"naive", Solver::kNaive},
    {"load-balance", Solver::kLoadBalance},
    {"depth-first", Solver::kDepthFirst},
    {"randomized", Solver::kRandomized},
    {"ensemble", Solver::kEnsemble}};

struct Candidate {
  Schedule schedule;
  Ticks lower_bound = 0;
  std::string solver;
};

Candidate ByPaper(const ReshardProblem& problem, const Instance& instance,
                  const Options& options) {
  const base::Deadline& deadline = options.deadline;
  const int64_t nodes = deadline.at.has_value() ? INT64_MAX : kDepthFirstNodes;
  Order order;
  switch (options.solver) {
    case Solver::kNaive:
      order = ScheduleNaively(instance);
      break;
    case Solver::kLoadBalance:
      order = ScheduleByLoad(instance);
      break;
    case Solver::kDepthFirst:
      order = SearchDepthFirst(instance, nodes, deadline).order;
      break;
    case Solver::kRandomized:
      order =
          ScheduleRandomly(instance, options.seed, kRandomizedDraws, deadline);
      break;
    default: {
      order =
          ScheduleRandomly(instance, options.seed, kRandomizedDraws, deadline);
      Order other = SearchDepthFirst(instance, nodes, deadline).order;
      if (ComputeMakespan(instance, other) < ComputeMakespan(instance, order)) {
        order = std::move(other);
      }
    }
  }
  std::string name;
  for (const auto& [text, solver] : kNames) {
    if (solver == options.solver) name = text;
  }
  // Makespans in whole tasks do not bound those in parts.
  const Ticks bound = problem.split
                          ? ComputeSplitBound(problem, instance, deadline)
                          : ComputeQuickBound(instance, deadline);
  return {ToSchedule(problem, instance, order), bound, std::move(name)};
}

Candidate Ours(const ReshardProblem& problem, const Instance& instance,
               const Options& options) {
  const auto solve = [&](const Instance& one) {
    Found found = SearchOrder(one, options.seed, options.deadline);
    return std::pair(found.makespan,
                     Candidate{ToSchedule(problem, one, found.order),
                               found.lower_bound, std::move(found.solver)});
  };
  if (!problem.split) return solve(instance).second;
  const Ticks bound = ComputeSplitBound(problem, instance, options.deadline);
  // Makespans in whole tasks do not bound those in parts.
  auto [whole, best] = solve(instance);
  best.lower_bound = bound;
  if (whole <= bound) return best;
  const Instance parts =
      MakeInstance(problem, SplitParts(problem, instance, bound));
  auto [makespan, candidate] = solve(parts);
  if (makespan >= whole) return best;
  candidate.lower_bound = bound;
  return candidate;
}

}  // namespace

absl::StatusOr<Solver> ParseSolver(std::string_view name) {
  std::string names;
  for (const auto& [text, solver] : kNames) {
    if (name == text) return solver;
    absl::StrAppend(&names, names.empty() ? "" : ", ", text);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "no solver is called \"", std::string(name), "\"; there are ", names));
}

absl::StatusOr<Answer> Score(const ReshardProblem& problem, Schedule schedule,
                             Ticks lower_bound, std::string solver) {
  Answer answer;
  answer.schedule = std::move(schedule);
  ASSIGN_OR_RETURN(answer.timing, Replay(problem, answer.schedule));
  answer.lower_bound = std::min(lower_bound, answer.timing.makespan);
  answer.optimal = answer.timing.makespan == answer.lower_bound;
  const Durations durations(problem);
  answer.makespan_seconds = durations.Seconds(answer.timing.makespan);
  answer.lower_bound_seconds = durations.Seconds(answer.lower_bound);
  answer.split = answer.schedule.size() > problem.tasks.size();
  answer.solver = std::move(solver);
  return answer;
}

absl::StatusOr<Answer> Solve(const ReshardProblem& problem,
                             const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  RETURN_IF_ERROR(Validate(problem));
  const Instance instance = MakeInstance(problem);
  Candidate candidate = options.solver == Solver::kAuto
                            ? Ours(problem, instance, options)
                            : ByPaper(problem, instance, options);
  ASSIGN_OR_RETURN(Answer answer,
                   Score(problem, std::move(candidate.schedule),
                         candidate.lower_bound, std::move(candidate.solver)));
  answer.elapsed = std::chrono::steady_clock::now() - begin;
  return answer;
}

}  // namespace meshwright::reshard
