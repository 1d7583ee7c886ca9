// Analysis: everything the segmenter knows of one training step.
//
// Concept: module -> forward and backward -> blocks -> gradients -> segments ->
// canonical segment graphs and their types. The profile space, the export and
// `analyze` read this one value. In -> Out: ir::Module and the mesh ->
// Analysis. Shapes: `type_of_segment[s]` indexes `types`; a type is represented
// by the first segment that has its fingerprint and that the request's rules
// treat alike. Errors: kInvalidArgument when the step has no loss output
// (forward_backward.h), or for a rule that does not fit the step
// (strategy_request.h).
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_ANALYSIS_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_ANALYSIS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/ir/module.h"
#include "coordinator/segmenter/segments/extract.h"
#include "coordinator/segmenter/segments/segment_id.h"
#include "coordinator/segmenter/strategy_request.h"

namespace meshwright::segmenter {

struct Analysis {
  ir::Module module;
  std::vector<int64_t> mesh;  // every axis, outermost first
  ForwardBackward passes;
  BlockGraph blocks;
  std::vector<StrategySet> strategies;  // by block, those the request leaves
  StrategyRequest request;
  Allowed allowed;
  std::vector<ir::ValueId> classes;  // value_numbering.h
  GradientMatches gradients;
  std::vector<std::string> cut_short;  // as in ForwardBackward
  SegmentPlan plan;
  std::vector<SegmentGraph> graphs;  // by segment
  std::vector<SegmentTypeId> type_of_segment;
  std::vector<SegmentIndex> types;  // representative segment
  int split_contractions = 0;       // fused contractions taken apart
};

absl::StatusOr<Analysis> Analyze(ir::Module module, std::vector<int64_t> mesh,
                                 StrategyRequest request = {});

// The switches that all blocks of a segment allow; those of an end.
std::vector<SegmentSwitch> ListSwitches(const Analysis& analysis,
                                        SegmentIndex segment);

// The same step, with its blocks and segments, on another mesh: what can be
// split there, and in which ways. Errors: kInvalidArgument for rules of the
// request that leave a block nothing there.
absl::StatusOr<Analysis> OnMesh(const Analysis& analysis,
                                std::vector<int64_t> mesh);

// The same step with its blocks covered by other segments (PlaceSegments).
Analysis Recut(const Analysis& analysis, std::vector<Segment> cover);

// How often a value is computed in a step, counting the loops that are looked
// through (SegmentPlan::kept_loops); unknown trips count once.
int64_t CountTripsAround(const Analysis& analysis, ir::ValueId id);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_ANALYSIS_H_
