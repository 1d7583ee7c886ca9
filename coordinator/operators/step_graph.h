// StepGraph: a module as the symbolic profiler sees it.
//
// Concept: one operation per instruction, in the module's order. Reshapes,
// bitcasts and what enters and leaves a loop are views of their operand; what
// XLA fuses is fusible (storage.h). A slice, gather or update touches only the
// elements it moves.
// In -> Out: ir::Module, or the analysis of a step -> symbolic::OpGraph. With
// an analysis the graph knows forward from backward, operators (a contraction
// with its gradients and recomputations) and segments. Shapes: operation i is
// instruction i. Threads: pure functions.
#ifndef MESHWRIGHT_COORDINATOR_OPERATORS_STEP_GRAPH_H_
#define MESHWRIGHT_COORDINATOR_OPERATORS_STEP_GRAPH_H_

#include "coordinator/segmenter/analysis.h"
#include "planner/symbolic/op_graph.h"

namespace meshwright::operators {

symbolic::OpGraph ReadModule(const ir::Module& module);

symbolic::OpGraph ReadStep(const segmenter::Analysis& analysis);

}  // namespace meshwright::operators

#endif  // MESHWRIGHT_COORDINATOR_OPERATORS_STEP_GRAPH_H_
