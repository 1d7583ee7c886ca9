// Fully sharded and optimizer-sharded segments: state split over the axes that
// split the batch.
//
// Concept: on such an axis every device would hold the same parameters and do
// the same update. Fully sharded (FSDP, ZeRO-3), a parameter is split along its
// outermost dimension that divides and that no other axis splits. Its readers
// get it gathered, its gradient is reduced into shards, and the update and its
// optimizer state run on shards. Optimizer-sharded (ZeRO-1), gradients, update
// and optimizer state are split, and the new parameter is gathered. A parameter
// that no dimension divides stays whole. A loop over layers carries shards of
// its stacks and gathers its layer in each trip. It writes its part of the
// gradient to the stack of gradients.
// In -> Out: the annotation without the switch -> with it.
// Threads: pure functions.
// Source: Rajbhandari et al., ZeRO (2020).
#ifndef MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_STATE_SHARDING_H_
#define MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_STATE_SHARDING_H_

#include <optional>
#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/annotation/segment_annotation.h"

namespace meshwright::space {

// A parameter that a switch leaves whole because no dimension divides.
struct KeptWhole {
  segmenter::SegmentSwitch segment_switch = segmenter::SegmentSwitch::kNone;
  int value = 0;  // of the segment's graph
};

// `strategies` are those of the segment's blocks; an end has none, and its data
// axes are those that split its boundaries. `kept_whole`, where given, gets the
// value indices of the parameters that nothing divides.
SegmentAnnotation ShardState(
    const segmenter::Analysis& analysis, const segmenter::SegmentGraph& graph,
    const std::vector<const segmenter::Strategy*>& strategies,
    const SegmentAnnotation& plain, bool shard_parameters, const Mesh& mesh,
    std::vector<int>* kept_whole);

// By value: the block of the segment that reads it first in the forward pass,
// if one does, counted from the segment's first.
std::vector<std::optional<int>> FindFirstReaders(
    const segmenter::Analysis& analysis, const segmenter::SegmentGraph& graph);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_ANNOTATION_STATE_SHARDING_H_
