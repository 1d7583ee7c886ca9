// Boundary placement: which block owns the operations between a block and its
// consumers.
//
// Concept: operations behind a reduction (rule d) follow no split, and stand
// with their first consumer. Where a norm comes before the residual add, as in
// ResNet, that makes two tensors cross the boundary: the norm's input and the
// residual. With norm and add on the producer's side only their sum crosses. So
// the first operations between a block and its consumers stay with the block.
// Their number is the one that makes the fewest tensors cross, and of equal
// ones the smallest. A value that contractions of several blocks read, such as
// the encoder's result in a decoder's layers, crosses in any case. It ends
// where it was made.
//
//   block | norm  add  norm | consumer        norm, add behind the block: the
//     \_____________/                         residual ends there too
//
// Source: docs/decisions/segmentation.md.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_BOUNDARY_PLACEMENT_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_BOUNDARY_PLACEMENT_H_

#include <optional>
#include <vector>

#include "coordinator/ir/module.h"
#include "coordinator/segmenter/direction/forward_backward.h"

namespace meshwright::segmenter {

// `derived`: by ValueId the block a forward value behind a norm comes from,
// none for all others. `owners` (BlockGraph::owner_block) is changed.
void PlaceAtBoundaries(const ir::Module& module, const ForwardBackward& passes,
                       const std::vector<std::optional<int>>& derived,
                       std::vector<std::optional<int>>& owners);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_BOUNDARY_PLACEMENT_H_
