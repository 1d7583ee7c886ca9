// IntraOpModel: a step as operators to be split one by one.
//
// Concept: the operators of the forward pass (operator_groups.h) with the
// indices they run over (index_labels.h). Backward costs are laid on them: a
// contraction's gradients are known (gradients.h); any other operation's
// backward counts twice its forward. Where a mesh axis splits an index
// that an operand lacks, the operand's gradient is a sum over that axis.
// In -> Out: the analysis of a step and a device -> intraop::OpModel, and for
// every operator what its indices are on its contraction.
// Errors: those of the symbolic profile (planner/symbolic/profile.h).
// Threads: pure functions.
// Source: papers/map_colossal_auto.txt 5.1 ("our profiler puts the time/memory
// overhead of forward and backward in the node").
#ifndef MESHWRIGHT_COORDINATOR_OPERATORS_INTRAOP_MODEL_H_
#define MESHWRIGHT_COORDINATOR_OPERATORS_INTRAOP_MODEL_H_

#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/segmenter/analysis.h"
#include "coordinator/segmenter/blocks/strategy.h"
#include "planner/intraop/op_model.h"
#include "planner/symbolic/roofline.h"

namespace meshwright::operators {

struct OperatorAnchor {
  ir::ValueId id;
  // By index of the operator; for contractions only.
  std::vector<segmenter::RootSplit> splits;
};

struct IntraOpModel {
  intraop::OpModel model;
  std::vector<OperatorAnchor> anchors;  // by operator
};

absl::StatusOr<IntraOpModel> ReadIntraOpModel(
    const segmenter::Analysis& analysis, const symbolic::Device& device);

}  // namespace meshwright::operators

#endif  // MESHWRIGHT_COORDINATOR_OPERATORS_INTRAOP_MODEL_H_
