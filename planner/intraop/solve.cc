#include "planner/intraop/solve.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "planner/problem/duration.h"
#include "planner/problem/evaluate.h"

namespace meshwright::intraop {
namespace {

using problem::Picoseconds;

// Those of an operator that are worth a look, in their order.
std::vector<Strategy> Choose(const Operator& it, const Request& request) {
  const bool must_split =
      it.heavy && (request.split_contractions ||
                   request.machine.cost == CostKind::kCommunication);
  const Strategy batch = ChooseDataParallel(it, request.machine.mesh);
  const size_t max_count = std::max(request.max_strategies, 1);
  if (max_count == 1 && !must_split) return {batch};
  std::vector<Strategy> all =
      ListStrategies(it, request.machine.mesh, must_split);
  if (all.size() <= max_count) return all;
  std::vector<std::tuple<bool, Picoseconds, Strategy>> ranked;
  for (const Strategy& strategy : all) {
    ranked.emplace_back(strategy != batch,  // the batch comes first
                        ComputeCost(it, strategy, request.machine).time,
                        strategy);
  }
  std::sort(ranked.begin(), ranked.end());
  ranked.resize(max_count);
  all.clear();
  for (auto& [after, time, strategy] : ranked)
    all.push_back(std::move(strategy));
  std::sort(all.begin(), all.end());
  return all;
}

void Add(const problem::Table& from, problem::Table& to) {
  for (size_t i = 0; i < to.entries.size(); ++i) {
    if (!from.entries[i].has_value()) {
      to.entries[i].reset();
    } else if (to.entries[i].has_value()) {
      *to.entries[i] =
          std::min(*to.entries[i] + *from.entries[i], problem::kMaxTime);
    }
  }
}

// `time` is that of the strategies in their problem.
IntraOpPlan MakePlan(const OpModel& model, const Machine& machine,
                     std::vector<Strategy> strategies, Picoseconds time,
                     int64_t peak_bytes) {
  IntraOpPlan plan;
  plan.time = time;
  plan.peak_bytes = peak_bytes;
  plan.resharding = time;
  for (size_t i = 0; i < strategies.size(); ++i) {
    const Operator& it = model.operators[i];
    plan.communication += ComputeCommunication(it, strategies[i], machine);
    plan.resharding -= ComputeCost(it, strategies[i], machine).time;
  }
  plan.strategies = std::move(strategies);
  return plan;
}

// The time of computation alone when everything is split over all devices: no
// plan takes less.
Picoseconds MinTime(const OpModel& model, const Machine& machine) {
  int64_t sum = 0;
  if (machine.cost == CostKind::kRoofline) {
    int64_t devices = 1;
    for (const int64_t axis : machine.mesh) {
      devices = problem::SaturatingMultiply(devices, axis);
    }
    for (const Operator& it : model.operators) {
      for (const Share& share : it.time) {
        sum = problem::SaturatingAdd(sum, share.amount / devices);
      }
    }
  }
  return std::min(Picoseconds(sum), problem::kMaxTime);
}

absl::StatusOr<IntraOpAnswer> Search(const OpModel& model,
                                     const Machine& machine,
                                     const IntraOpProblem& built,
                                     const search::Options& options) {
  IntraOpAnswer answer;
  if (built.problem.nodes.empty()) {
    answer.plan.emplace();
    return answer;
  }
  ASSIGN_OR_RETURN(const search::Answer found,
                   search::Solve(built.problem, options));
  answer.lower_bound = found.lower_bound;
  answer.least_memory_bytes = found.least_memory_bytes;
  answer.solver = found.solver;
  if (!found.plan.has_value()) return answer;
  std::vector<Strategy> strategies;
  for (size_t i = 0; i < built.strategies.size(); ++i) {
    strategies.push_back(built.strategies[i][found.plan->choice[i][0]]);
  }
  answer.plan = MakePlan(model, machine, std::move(strategies),
                         found.plan->time, found.plan->peak_bytes);
  return answer;
}

}  // namespace

absl::StatusOr<IntraOpProblem> BuildProblem(const OpModel& model,
                                            const Request& request,
                                            const base::Deadline& deadline) {
  RETURN_IF_ERROR(Validate(request.machine));
  RETURN_IF_ERROR(Validate(model));
  IntraOpProblem built;
  for (const Operator& it : model.operators) {
    if (deadline.HasPassed()) return absl::CancelledError("interrupted");
    built.strategies.push_back(Choose(it, request));
    problem::NodeType type;
    type.name = it.name;
    for (const Strategy& strategy : built.strategies.back()) {
      type.configs.push_back(ComputeCost(it, strategy, request.machine));
    }
    problem::Node node;
    node.type = static_cast<int>(built.problem.types.size());
    built.problem.types.push_back(std::move(type));
    built.problem.nodes.push_back(node);
  }
  layout::LayoutPlanner planner;
  struct Ends {
    int from = 0;
    int to = 0;
    auto operator<=>(const Ends&) const = default;
  };
  std::map<Ends, int> table_of;
  for (const Edge& edge : model.edges) {
    if (deadline.HasPassed()) return absl::CancelledError("interrupted");
    ASSIGN_OR_RETURN(problem::Table table,
                     MakeReshardingTable(edge, built.strategies[edge.from],
                                         built.strategies[edge.to],
                                         request.machine, planner));
    const int next = static_cast<int>(built.problem.tables.size());
    const auto [found, added] =
        table_of.emplace(Ends{edge.from, edge.to}, next);
    if (added) {
      built.problem.tables.push_back(std::move(table));
      built.problem.edges.push_back({edge.from, edge.to, next});
    } else {
      Add(table, built.problem.tables[found->second]);
    }
  }
  built.problem.memory_limit_bytes = request.memory_limit_bytes;
  return built;
}

absl::StatusOr<IntraOpAnswer> Solve(const OpModel& model,
                                    const Request& request,
                                    const search::Options& options) {
  const auto built = BuildProblem(model, request, options.deadline);
  if (built.ok()) {
    return Search(model, request.machine, *built, options);
  }
  if (!absl::IsCancelled(built.status())) return built.status();
  // No time for all strategies: those that split the batch.
  Request few = request;
  few.max_strategies = 1;
  ASSIGN_OR_RETURN(const IntraOpProblem small, BuildProblem(model, few));
  ASSIGN_OR_RETURN(IntraOpAnswer answer,
                   Search(model, request.machine, small, options));
  if (answer.plan.has_value()) {
    answer.lower_bound =
        std::min(MinTime(model, request.machine), answer.plan->time);
    answer.solver = "one strategy each";
    return answer;
  }
  // They do not fit, or do not meet: a verdict is waited for.
  ASSIGN_OR_RETURN(const IntraOpProblem all, BuildProblem(model, request));
  return Search(model, request.machine, all, options);
}

absl::StatusOr<IntraOpPlan> Score(const OpModel& model, const Request& request,
                                  std::vector<Strategy> strategies) {
  ASSIGN_OR_RETURN(const IntraOpProblem built, BuildProblem(model, request));
  if (strategies.size() != built.strategies.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("strategies are ", strategies.size(), " for ",
                     built.strategies.size(), " operators"));
  }
  problem::Choice choice;
  for (size_t i = 0; i < strategies.size(); ++i) {
    const std::vector<Strategy>& own = built.strategies[i];
    const auto found = std::find(own.begin(), own.end(), strategies[i]);
    if (found == own.end()) {
      return absl::NotFoundError(absl::StrCat(
          "strategies[", i, "] is none of operator ", model.operators[i].name));
    }
    choice.push_back({static_cast<int>(found - own.begin())});
  }
  const auto cost = problem::Evaluate(built.problem, choice);
  if (cost.status().code() == absl::StatusCode::kFailedPrecondition) {
    return absl::NotFoundError(cost.status().message());
  }
  RETURN_IF_ERROR(cost.status());
  return MakePlan(model, request.machine, std::move(strategies), cost->time,
                  cost->peak_bytes);
}

}  // namespace meshwright::intraop
