// PlanDifference: two plans side by side, from their files alone.
//
// Concept: the figures of any two plans can be compared. Segments and arguments
// are compared only if both plans are of the same model and mesh and have the
// same segments; `reason` says why not. A change joins the segments of a type
// that have one configuration in the first plan and another in the second. It
// states the effect on their time, on the resharding at their boundaries and on
// their memory. The changes add up to the difference of the steps, unless a
// plan has stages. Figures of segments are then of one micro-batch, and the
// mesh and the stage are part of the configuration.
// In -> Out: two plans -> second minus first (docs/formats/diff.md).
#ifndef MESHWRIGHT_COORDINATOR_EXPLAIN_DIFFERENCE_H_
#define MESHWRIGHT_COORDINATOR_EXPLAIN_DIFFERENCE_H_

#include "proto/v1/plan.pb.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::explain {

v1::PlanDifference ComparePlans(const v1::Plan& first, const v1::Plan& second);

}  // namespace meshwright::explain

#endif  // MESHWRIGHT_COORDINATOR_EXPLAIN_DIFFERENCE_H_
