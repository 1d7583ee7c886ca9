// The configurations that a plan names, found again in the space of its step.
//
// Errors: kInvalidArgument for a plan of another model or mesh, or an
// infeasible one.
#ifndef MESHWRIGHT_COORDINATOR_EXPORT_PLAN_CHOICE_H_
#define MESHWRIGHT_COORDINATOR_EXPORT_PLAN_CHOICE_H_

#include "absl/status/statusor.h"
#include "coordinator/export/whole_model.h"

namespace meshwright::exporting {

absl::StatusOr<SegmentChoice> ChoiceOf(const v1::Plan& plan,
                                       const segmenter::Analysis& analysis,
                                       const space::ProfileSpace& space);

}  // namespace meshwright::exporting

#endif  // MESHWRIGHT_COORDINATOR_EXPORT_PLAN_CHOICE_H_
