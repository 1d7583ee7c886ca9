// PlanChoice: the configurations of a step that a plan names, written and read.
//
// Threads: pure functions.
//
// Errors: kInvalidArgument for a plan of another model or mesh, or an
// infeasible one.
#ifndef MESHWRIGHT_COORDINATOR_EXPORT_PLAN_CHOICE_H_
#define MESHWRIGHT_COORDINATOR_EXPORT_PLAN_CHOICE_H_

#include "absl/status/statusor.h"
#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/profile_space.h"
#include "coordinator/space/segment_choice.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::exporting {

absl::StatusOr<space::SegmentChoice> FindChoice(
    const v1::Plan& plan, const segmenter::Analysis& analysis,
    const space::ProfileSpace& space);

// The same of one stage, on its mesh; segments of other stages have any.
absl::StatusOr<space::SegmentChoice> FindChoice(
    const v1::PlanStage& stage, const segmenter::Analysis& analysis,
    const space::ProfileSpace& space);

// One segment each, without figures.
void DescribeSegments(const segmenter::Analysis& analysis,
                      const space::ProfileSpace& space,
                      const space::SegmentChoice& choice, v1::Plan* plan);

}  // namespace meshwright::exporting

#endif  // MESHWRIGHT_COORDINATOR_EXPORT_PLAN_CHOICE_H_
