// ExplainChoices: the time that each choice of a plan saves.
//
// Concept: a choice is a configuration that the plan gives to segments of one
// type. It is compared with the best plan in which these segments may not have
// it: compute, communication, resharding, memory, and the changes elsewhere.
// In -> Out: a measured step, a plan of it -> one PlanChoice per choice, in
// order of appearance.
// Errors: kNotFound if a configuration of the plan was not measured;
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
std::vector<v1::PlanChange> ListChanges(const planning::MeasuredStep& step,
                                        const space::SegmentChoice& from,
                                        const space::SegmentChoice& to);

}  // namespace meshwright::explain

#endif  // MESHWRIGHT_COORDINATOR_EXPLAIN_EXPLAIN_CHOICES_H_
