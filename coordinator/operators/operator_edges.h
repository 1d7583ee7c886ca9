// OperatorEdges: the tensors between the operators of a step.
//
// Concept: one edge per value and way of reading it; a value whose dimensions
// nothing splits on either side needs none. A value that a loop hands to its
// next trip enters it as it left the last: an edge too.
// Threads: pure functions.
// In -> Out: operators with their indices, and trips by operation -> edges from
// earlier to later operators.
#ifndef MESHWRIGHT_COORDINATOR_OPERATORS_OPERATOR_EDGES_H_
#define MESHWRIGHT_COORDINATOR_OPERATORS_OPERATOR_EDGES_H_

#include <vector>

#include "coordinator/operators/index_labels.h"
#include "coordinator/operators/operator_groups.h"
#include "planner/intraop/op_model.h"
#include "planner/symbolic/op_graph.h"

namespace meshwright::operators {

// `labels` by operator.
std::vector<intraop::Edge> ReadEdges(const segmenter::Analysis& analysis,
                                     const symbolic::OpGraph& graph,
                                     const OperatorGroups& groups,
                                     const std::vector<IndexLabels>& labels);

}  // namespace meshwright::operators

#endif  // MESHWRIGHT_COORDINATOR_OPERATORS_OPERATOR_EDGES_H_
