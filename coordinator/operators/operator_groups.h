// OperatorGroups: trivial operations merged into the operators of a step.
//
// Concept: of the forward pass, every contraction opens an operator. Any other
// operation that does more than go element by element, rearrange or reduce
// opens one, too. A trivial one joins the latest operator it depends on. An
// operation that depends on arguments only and comes from a parameter (a bias's
// broadcast) is a member of every operator that reads it. Else it is an input.
// Operators are numbered so that each reads earlier ones only.
// In -> Out: the analysis of a step -> members by operator.
// Threads: pure functions.
// Source: papers/map_colossal_auto.txt 5.1 ("we merge the computationally-
// trivial nodes").
#ifndef MESHWRIGHT_COORDINATOR_OPERATORS_OPERATOR_GROUPS_H_
#define MESHWRIGHT_COORDINATOR_OPERATORS_OPERATOR_GROUPS_H_

#include <optional>
#include <vector>

#include "coordinator/segmenter/analysis.h"

namespace meshwright::operators {

struct OperatorGroup {
  ir::ValueId anchor;
  std::vector<ir::ValueId> members;  // ascending; operations of arguments too
};

struct OperatorGroups {
  std::vector<OperatorGroup> groups;
  // By ValueId: its operator, if it belongs to one.
  std::vector<std::optional<int>> operator_of;
};

OperatorGroups FindOperators(const segmenter::Analysis& analysis);

// Whether the operation merges into its producer.
bool IsTrivial(const ir::Module& module, ir::ValueId id);

}  // namespace meshwright::operators

#endif  // MESHWRIGHT_COORDINATOR_OPERATORS_OPERATOR_GROUPS_H_
