// WholeModel: the whole step, annotated with a plan.
//
// Concept: one configuration per segment gives every instruction of the step
// its sharding. Values that all segments compute for themselves are
// written once per segment. Where a tensor crosses to a segment that splits it
// differently, a copy with that split stands at the boundary. The step thus
// reshards where the plan says and nowhere else.
// Threads: pure functions.
// In -> Out: analysis, profile space, one configuration index per segment ->
// a program with the arguments and outputs of the step, in its order.
#ifndef MESHWRIGHT_COORDINATOR_EXPORT_WHOLE_MODEL_H_
#define MESHWRIGHT_COORDINATOR_EXPORT_WHOLE_MODEL_H_

#include <string>
#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/profile_space.h"
#include "coordinator/space/segment_choice.h"
#include "proto/v1/job.pb.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::exporting {

v1::Program MakeWholeProgram(const segmenter::Analysis& analysis,
                             const space::ProfileSpace& space,
                             const space::SegmentChoice& choice);

// An argument as plans name it: what the launcher called it, else its own name.
std::string NameArgument(const ir::Instruction& argument);

// A sharding as plans write it: "[1,-]".
std::string FormatSharding(const space::Sharding& sharding, int rank);

// The sharding of every argument and output under the plan.
void DescribeArguments(const segmenter::Analysis& analysis,
                       const space::ProfileSpace& space,
                       const space::SegmentChoice& choice, v1::Plan* plan);

}  // namespace meshwright::exporting

#endif  // MESHWRIGHT_COORDINATOR_EXPORT_WHOLE_MODEL_H_
