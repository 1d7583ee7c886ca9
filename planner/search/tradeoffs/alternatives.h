// FindAlternatives: what each choice of a plan saves against the next best.
//
// Concept: a choice is a configuration that the plan gives to some segments of
// a type. It is forbidden where the plan has it, the rest of the plan is free
// again, and the problem is solved again. The choice saves the time that the
// fastest plan then takes more. So a choice that matters only through what its
// neighbours take beside it is not praised for it. Configurations that mean the
// same to people (`alike`) are one choice.
// In → Out: a valid problem and a plan → one Alternative per choice, in order
// of appearance.
// Errors: those of Solve and Evaluate.
#ifndef MESHWRIGHT_PLANNER_SEARCH_TRADEOFFS_ALTERNATIVES_H_
#define MESHWRIGHT_PLANNER_SEARCH_TRADEOFFS_ALTERNATIVES_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/problem/plan_problem.h"
#include "planner/search/search.h"

namespace meshwright::search {

struct Alternative {
  int type = 0;
  int config = 0;            // the first of its kind that the plan has
  std::vector<int> nodes;    // where the plan has it
  std::optional<Plan> next;  // empty: without it no plan is allowed and fits
  // No plan without it is faster than this: the time of `next`, unless the
  // search was cut short.
  problem::Picoseconds lower_bound{0};
  // How far time(next) - time(plan) may be off.
  problem::NoiseInterval noise;
};

// By type and configuration: equal numbers are one choice. Empty: none are.
using ChoiceKinds = std::vector<std::vector<int>>;

absl::StatusOr<std::vector<Alternative>> FindAlternatives(
    const problem::PlanProblem& problem, const problem::Choice& choice,
    const Options& options = {}, const ChoiceKinds& alike = {});

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_TRADEOFFS_ALTERNATIVES_H_
