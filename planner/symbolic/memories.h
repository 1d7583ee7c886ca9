// Memories: MAP's five memories of an operator or a segment.
//
// Concept: of the stored values of a set of operations, its forward and its
// backward part:
//   fwd_in   what is kept for the backward pass: values from outside that the
//            forward part reads and the backward pass too, and values made
//            inside that only the backward pass reads from there on
//   fwd_tmp  the most that is live at once of what is made and read inside the
//            forward part only
//   fwd_out  what the forward part makes for others or as an output
//   bwd_tmp  as fwd_tmp, of the backward part
//   bwd_out  what the backward part makes for others: gradients. New state is
//            written over the old and does not count.
// A value that several operators keep counts for each, once.
// Arguments and constants are nobody's memory.
// Units: bytes, saturating.
// Source: papers/map_colossal_auto.txt 4.1, Figure 3; where an operator is one
// operation it is the paper's node (docs/decisions/op-level-plans.md).
#ifndef MESHWRIGHT_PLANNER_SYMBOLIC_MEMORIES_H_
#define MESHWRIGHT_PLANNER_SYMBOLIC_MEMORIES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/symbolic/op_graph.h"
#include "planner/symbolic/storage.h"

namespace meshwright::symbolic {

struct Memories {
  int64_t fwd_in = 0;
  int64_t fwd_tmp = 0;
  int64_t fwd_out = 0;
  int64_t bwd_tmp = 0;
  int64_t bwd_out = 0;

  bool operator==(const Memories&) const = default;
};

// `set_of`: by operation, its set. One result per set.
std::vector<Memories> MeasureMemories(
    const OpGraph& graph, const StorageMap& storage,
    const std::vector<std::vector<int>>& readers,
    const std::vector<std::optional<int>>& set_of, int sets);

}  // namespace meshwright::symbolic

#endif  // MESHWRIGHT_PLANNER_SYMBOLIC_MEMORIES_H_
