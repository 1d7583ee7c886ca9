// Liveness: the most bytes a step holds at once.
//
// Concept: a sweep over the operations in their order. A stored value lives
// from its operation to its last reader, an output to the end. An operation in
// place takes over the bytes of an operand of its size that dies there. A value
// that replaces an argument is written over it, unless the argument is read
// again later. Then the value is a temporary until the end.
// Units: bytes, saturating.
// Source: papers/map_colossal_auto.txt 4.1 ("the value of the peak memory and
// which node the peak occurs in").
#ifndef MESHWRIGHT_PLANNER_SYMBOLIC_LIVENESS_H_
#define MESHWRIGHT_PLANNER_SYMBOLIC_LIVENESS_H_

#include <cstdint>
#include <vector>

#include "planner/symbolic/op_graph.h"
#include "planner/symbolic/storage.h"

namespace meshwright::symbolic {

struct Footprint {
  int64_t argument_bytes = 0;
  int64_t output_bytes = 0;     // that take over no argument
  int64_t temporary_bytes = 0;  // the most at once
  int64_t peak_bytes = 0;       // the sum: compilers reserve outputs throughout
  // Forward values that the backward pass reads; arguments are not among them.
  int64_t saved_bytes = 0;
};

Footprint Measure(const OpGraph& graph, const StorageMap& storage,
                  const std::vector<std::vector<int>>& readers);

}  // namespace meshwright::symbolic

#endif  // MESHWRIGHT_PLANNER_SYMBOLIC_LIVENESS_H_
