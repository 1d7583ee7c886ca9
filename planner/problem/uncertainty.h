// Uncertainty: how sure the time of a plan is, from how sure its parts are.
//
// Concept: a problem is made of measurements: one per configuration of a type,
// one per entry of a table, each with a noise interval (plan_problem.h). The
// copies of a configuration are one measurement used many times: they err
// together. Different measurements err independently. So a plan's time is
// uncertain by
//
//     below = sqrt(sum over measurements of (uses * below)^2), above alike
//
// and between two plans the uses are subtracted first: what both share, errs
// alike in both and cancels.
// In → Out: a validated problem and plans of it → intervals, noise.
// Errors: those of Evaluate.
#ifndef MESHWRIGHT_PLANNER_PROBLEM_UNCERTAINTY_H_
#define MESHWRIGHT_PLANNER_PROBLEM_UNCERTAINTY_H_

#include "absl/status/statusor.h"
#include "planner/problem/plan_problem.h"

namespace meshwright::problem {

// Whether anything in the problem has a noise interval.
bool IsUncertain(const PlanProblem& problem);

// Around the time that Evaluate gives.
absl::StatusOr<NoiseInterval> EstimateNoise(const PlanProblem& problem,
                                            const Choice& choice);

// By how much time(b) - time(a) may turn out smaller or larger.
absl::StatusOr<NoiseInterval> EstimateNoiseBetween(const PlanProblem& problem,
                                                   const Choice& a,
                                                   const Choice& b);

}  // namespace meshwright::problem

#endif  // MESHWRIGHT_PLANNER_PROBLEM_UNCERTAINTY_H_
