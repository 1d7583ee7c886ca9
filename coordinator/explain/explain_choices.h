// ExplainChoices: what each choice of a plan saves, and where that comes from.
//
// Concept: per configuration that the plan gives to segments of a type, the
// best plan in which these may not have it (planner/search/alternatives.h), and
// how its figures differ: compute, communication, resharding, memory, and what
// it does otherwise elsewhere.
// In → Out: a measured step, a plan of it → one PlanChoice per choice, in order
// of appearance.
// Errors: kNotFound where the plan has a configuration that was not measured;
// those of the search.
#ifndef MESHWRIGHT_COORDINATOR_EXPLAIN_EXPLAIN_CHOICES_H_
#define MESHWRIGHT_COORDINATOR_EXPLAIN_EXPLAIN_CHOICES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/planning/measured_step.h"
#include "planner/search/search.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::explain {

absl::StatusOr<v1::PlanExplanation> ExplainChoices(
    const planning::MeasuredStep& step, const space::SegmentChoice& choice,
    const search::Options& options);

// Where two plans of a step differ, by type, from and to.
std::vector<v1::PlanChange> ChangesBetween(const planning::MeasuredStep& step,
                                           const space::SegmentChoice& from,
                                           const space::SegmentChoice& to);

}  // namespace meshwright::explain

#endif  // MESHWRIGHT_COORDINATOR_EXPLAIN_EXPLAIN_CHOICES_H_
