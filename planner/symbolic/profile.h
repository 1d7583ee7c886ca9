// Profile: the cost of a step, predicted from its graph alone.
//
// Concept: one row per operation, operator and segment, and one for the step. A
// row has arithmetic, bytes touched, the roofline time and the five memories.
// It also has the bytes that reach memory once fusible values are computed
// where they are read. A loop's operations count as often as they run. In ->
// Out: OpGraph and a device -> Profile. Shapes: `operations[i]` belongs to
// operation i, and so on; a row of an operation has no memories, its operator
// has. Errors: those of Validate.
// Threads: pure functions.
// Source: papers/map_colossal_auto.txt 4.1.
#ifndef MESHWRIGHT_PLANNER_SYMBOLIC_PROFILE_H_
#define MESHWRIGHT_PLANNER_SYMBOLIC_PROFILE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/symbolic/liveness.h"
#include "planner/symbolic/memories.h"
#include "planner/symbolic/op_graph.h"
#include "planner/symbolic/roofline.h"

namespace meshwright::symbolic {

struct Row {
  int operations = 0;
  Counts counts;
  int64_t bytes_read = 0;     // of operands, if nothing were fused
  int64_t bytes_written = 0;  // likewise
  int64_t traffic_bytes = 0;
  problem::Picoseconds forward_time{0};
  problem::Picoseconds backward_time{0};  // update included
  Memories memories;
};

struct Profile {
  std::vector<Row> operations;
  std::vector<Row> operators;
  std::vector<Row> segments;
  Row total;
  Footprint footprint;
};

absl::StatusOr<Profile> ProfileStep(const OpGraph& graph, const Device& device);

}  // namespace meshwright::symbolic

#endif  // MESHWRIGHT_PLANNER_SYMBOLIC_PROFILE_H_
