// Graphs for tests: small steps of every kind of operation.
#ifndef MESHWRIGHT_PLANNER_SYMBOLIC_TESTING_RANDOM_GRAPH_H_
#define MESHWRIGHT_PLANNER_SYMBOLIC_TESTING_RANDOM_GRAPH_H_

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "planner/symbolic/op_graph.h"

namespace meshwright::symbolic {

// Valid; equal seeds give equal graphs.
OpGraph RandomGraph(uint64_t seed, int operations);

// Adds one operation that reads `operands` whole, in an operator of its own,
// and returns its index.
int AddOperation(OpGraph& graph, Storage storage, int64_t bytes,
                 std::initializer_list<int> operands);

}  // namespace meshwright::symbolic

#endif  // MESHWRIGHT_PLANNER_SYMBOLIC_TESTING_RANDOM_GRAPH_H_
