// Owner blocks: the block that every forward operation belongs to.
//
// Concept: what follows from the roots of a block belongs to it. An operation
// that no root reaches, or that stands behind a reduction (rule d), belongs to
// its first consumer. The square that a norm begins with moves to the consumer
// where its operands cross the boundary anyway, so one tensor crosses instead
// of two. A conversion to more bytes moves as well, so the smaller tensor
// crosses. For the operations behind a norm, boundary_placement.h decides.
// In -> Out: grown blocks in sequence -> BlockGraph::owner_block and inside.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_OWNER_BLOCKS_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_OWNER_BLOCKS_H_

#include <vector>

#include "coordinator/ir/module.h"
#include "coordinator/segmenter/blocks/grow_blocks.h"
#include "coordinator/segmenter/blocks/parallel_block.h"
#include "coordinator/segmenter/direction/forward_backward.h"

namespace meshwright::segmenter {

// `index_of`: by union-find block its place in `graph.blocks`.
void AssignOwners(const ir::Module& module, const ForwardBackward& passes,
                  const GrownBlocks& grown,
                  const std::vector<std::optional<int>>& index_of,
                  BlockGraph& graph);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_OWNER_BLOCKS_H_
