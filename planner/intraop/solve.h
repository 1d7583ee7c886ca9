// Solve: the intra-op plan of a step, operator by operator.
//
// Concept: operators become nodes of a PlanProblem, their strategies its
// configurations, resharding its tables (papers/map_colossal_auto.txt, Eq. 1);
// the search answers it like any other. Where an operator has more strategies
// than wanted, those cheapest by themselves are kept, the data-parallel one
// always.
// In -> Out: a valid model and machine -> one strategy per operator, its cost
// and a certified bound. Or the need of the plan of minimum memory. Interrupted
// while costs are made: one strategy per operator, the data-parallel one, where
// that is a plan; the bound is then that of computing alone.
// Errors: those of Validate, the layout planner and the search. Score gives
// kInvalidArgument for a number of strategies that is not that of the
// operators.
// Threads: pure functions.
#ifndef MESHWRIGHT_PLANNER_INTRAOP_SOLVE_H_
#define MESHWRIGHT_PLANNER_INTRAOP_SOLVE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "base/deadline.h"
#include "planner/intraop/costs.h"
#include "planner/intraop/op_model.h"
#include "planner/search/search.h"

namespace meshwright::intraop {

struct Request {
  Machine machine;
  std::optional<int64_t> memory_limit_bytes;
  int max_strategies = 48;  // per operator
  // Contractions use every axis they can, as under kCommunication always.
  bool split_contractions = false;
};

struct IntraOpProblem {
  problem::PlanProblem problem;
  std::vector<std::vector<Strategy>> strategies;  // by node
};

// kCancelled: interrupted.
absl::StatusOr<IntraOpProblem> BuildProblem(
    const OpModel& model, const Request& request,
    const base::Deadline& deadline = {});

struct IntraOpPlan {
  std::vector<Strategy> strategies;  // by operator
  problem::Picoseconds time{0};
  // Of it: all-reduces of operators, and what resharding between them takes.
  problem::Picoseconds communication{0};
  problem::Picoseconds resharding{0};
  int64_t peak_bytes = 0;
};

struct IntraOpAnswer {
  std::optional<IntraOpPlan> plan;  // empty: none fits
  problem::Picoseconds lower_bound{0};
  std::optional<int64_t> least_memory_bytes;
  std::string solver;
};

absl::StatusOr<IntraOpAnswer> Solve(const OpModel& model,
                                    const Request& request,
                                    const search::Options& options = {});

// The costs of a plan that the caller gives. kNotFound: an operator has no such
// strategy, or a conversion between neighbours does not exist.
absl::StatusOr<IntraOpPlan> Score(const OpModel& model, const Request& request,
                                  std::vector<Strategy> strategies);

}  // namespace meshwright::intraop

#endif  // MESHWRIGHT_PLANNER_INTRAOP_SOLVE_H_
