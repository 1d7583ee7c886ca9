// The step as HLO, or a part of it, with the shardings of a plan.
//
// Concept: every instruction is written as the segment that owns it computes
// it. A part begins with values that it is given and ends with values that it
// hands on; what lies between is written, and nothing else. Values that it
// sums up are added to what it is given for them, in the same memory.
// In -> Out: a planned step -> the bytes of an HloModuleProto.
// Shapes: parameters are `entering`, then one per `summed`; outputs `leaving`,
// then the sums. `aliases` name these.
// Threads: pure functions.
// Errors: none; the step has been verified.
#ifndef MESHWRIGHT_COORDINATOR_EXPORT_STEP_WRITER_H_
#define MESHWRIGHT_COORDINATOR_EXPORT_STEP_WRITER_H_

#include <string>
#include <vector>

#include "coordinator/export/op_names.h"
#include "coordinator/export/planned_step.h"
#include "coordinator/segmenter/analysis.h"

namespace meshwright::exporting {

// An instruction gets the op_name of the one that it is a copy of.
std::string WriteStep(const segmenter::Analysis& analysis,
                      const PlannedStep& step, const OpNames& op_names = {});

struct StepPart {
  std::vector<ir::ValueId> entering;  // arguments among them
  std::vector<ir::ValueId> leaving;
  std::vector<ir::ValueId> summed;
  std::vector<ir::Alias> aliases;  // of entering and leaving
};

// `step` holds the segments that own what is written.
std::string WritePart(const segmenter::Analysis& analysis,
                      const PlannedStep& step, const std::string& name,
                      const StepPart& part);

}  // namespace meshwright::exporting

#endif  // MESHWRIGHT_COORDINATOR_EXPORT_STEP_WRITER_H_
