// Activations: how a plan splits the values inside a step.
//
// Concept: a launcher that runs the step by other means lays out its values as
// the plan does. Named are the roots of blocks, which strategies split, and the
// activations that cross a boundary of segments. Each is known by the op_name
// that the launcher gave it; one without goes by its instruction.
// In -> Out: the bytes of the step, its analysis, profile space, and one
// configuration per segment -> `activations` of the plan, in the step's order.
// Threads: pure functions.
#ifndef MESHWRIGHT_COORDINATOR_EXPORT_ACTIVATIONS_H_
#define MESHWRIGHT_COORDINATOR_EXPORT_ACTIVATIONS_H_

#include <string>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/profile_space.h"
#include "coordinator/space/segment_choice.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::exporting {

void DescribeActivations(const std::string& hlo_module,
                         const segmenter::Analysis& analysis,
                         const space::ProfileSpace& space,
                         const space::SegmentChoice& choice, v1::Plan* plan);

}  // namespace meshwright::exporting

#endif  // MESHWRIGHT_COORDINATOR_EXPORT_ACTIVATIONS_H_
