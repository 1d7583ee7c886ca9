// Analysis: everything the segmenter knows of one training step.
//
// Concept: module -> direction -> blocks -> gradients -> segments -> canonical
// segment graphs and their types, in one value that the profile space, the
// export and `analyze` read.
// In -> Out: ir::Module and the mesh -> Analysis.
// Shapes: `type_of_segment[s]` indexes `types`; a type is represented by the
// first segment that has its fingerprint.
// Errors: kInvalidArgument when no loss can be told (direction.h).
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_ANALYSIS_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_ANALYSIS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/ir/module.h"
#include "coordinator/segmenter/extract.h"

namespace meshwright::segmenter {

struct Analysis {
  ir::Module module;
  std::vector<int64_t> mesh;  // every axis, outermost first
  Direction direction;
  BlockGraph blocks;
  // By block, for the innermost axis of more than one device.
  std::vector<StrategySet> strategies;
  GradientMatches gradients;
  SegmentPlan plan;
  std::vector<SegmentGraph> graphs;  // by segment
  std::vector<int> type_of_segment;
  std::vector<int> types;      // representative segment
  int split_contractions = 0;  // fused contractions taken apart
};

absl::StatusOr<Analysis> Analyze(ir::Module module, std::vector<int64_t> mesh);

// The axis that strategies are chosen for: the innermost one with more than one
// device; 1 on a mesh of one device.
int64_t StrategyAxisSize(const std::vector<int64_t>& mesh);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_ANALYSIS_H_
