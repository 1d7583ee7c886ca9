// Linearize: a model's graph as a chain of groups of its nodes.
//
//   input ─▶ a ─▶ b ─▶ c ─▶ d        groups {a}, {b, c, d}: from a to d there
//   is
//                 └──────▶ d         no other single value that all passes
//
// Concept: nodes are taken in topological order into a group. It ends at the
// first node after which no value but its own is still awaited. Values of
// placeholders and of common nodes (those not differentiable, and all that
// depends on such alone) do not count. They stay for the whole step. A mask
// that every layer reads therefore does not make one group of the model. A node
// whose child works in place or communicates is no end: that child belongs to
// it. In → Out: nodes, parents before children or not → groups and their Chain:
//   forward, backward   sums over the group
//   act[i+1]            the output of the group's end; of the last group, of
//                       all its nodes without children
//   act[0]              the placeholders' and common values, all there all
//   along saved               sums over the group, the end's output at least
//   once forward transient   the most that is live inside while it runs, beyond
//   its
//                       output; backward transient: the largest of a node
// Errors: kInvalidArgument that names the node: cycles, parents that do not
// exist, negative figures, nothing but placeholders; and those of Validate.
// Source: papers/map_colossal_auto.txt 5.2.2 to 5.2.4, Algorithm 2. Its test of
// the parents reads "not placeholder and common". Neither is meant, since both
// are left out of the pool, and the in-place and communication rule is 5.2.4's.
#ifndef MESHWRIGHT_PLANNER_CHECKPOINT_TESTING_LINEARIZE_H_
#define MESHWRIGHT_PLANNER_CHECKPOINT_TESTING_LINEARIZE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/checkpoint/chain.h"

namespace meshwright::checkpoint {

struct GraphNode {
  std::string name;
  std::vector<int> parents;
  Picoseconds forward{0};
  Picoseconds backward{0};
  int64_t output_bytes = 0;
  int64_t saved_bytes = 0;  // kept for its backward, its output if needed there
  int64_t forward_transient_bytes = 0;
  int64_t backward_transient_bytes = 0;
  bool placeholder = false;    // an input or the output of the graph
  bool common = false;         // not differentiable
  bool in_place = false;       // writes over a parent's output
  bool communication = false;  // of its parents
};

struct Linearized {
  std::vector<std::vector<int>> groups;  // of nodes, in topological order
  std::vector<bool> common;              // per node, once propagated
  Chain chain;                           // a stage per group
};

absl::StatusOr<Linearized> Linearize(const std::vector<GraphNode>& graph);

}  // namespace meshwright::checkpoint

#endif  // MESHWRIGHT_PLANNER_CHECKPOINT_TESTING_LINEARIZE_H_
