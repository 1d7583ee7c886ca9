// ParallelBlocks: the groups of forward operations that one split decides.
//
// Concept: a block grows from one or more root contractions along dimension
// links for as long as the dimensions it may be split along survive. Rules
// (docs/decisions/segmentation.md):
//   (a) a contraction joins if it has batch dimensions and all of them carry
//       dimensions of the block; any other opens a block
//   (b) roots with no path between them that meet in a joining contraction or
//       an elementwise operation form one block
//   (c) any other operation goes to its deepest-rooted operand's block
//   (d) a reduction over a dimension that may be split is outside, with all
//       that follows from it, and goes to its first consumer's block
//   (e) a misaligned slice, concatenation or reshape ends that dimension only
// In -> Out: module and direction -> blocks in sequence order, and every
// forward operation's block. The order is contraction depth, then structural
// hash, never text order.
// Source: papers/cfp.txt 3.2, Eq. 2, Algorithm 1; where we differ and why:
// docs/decisions/segmentation.md.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_BLOCKS_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_BLOCKS_H_

#include <cstdint>
#include <vector>

#include "coordinator/ir/module.h"
#include "coordinator/segmenter/blocks/parallel_block.h"
#include "coordinator/segmenter/direction/forward_backward.h"

namespace meshwright::segmenter {

// `axis_sizes` are the mesh axes larger than one; dimensions that divide by
// none of them may not be split and bound no block.
BlockGraph BuildBlocks(const ir::Module& module, const ForwardBackward& passes,
                       const std::vector<uint64_t>& hashes,
                       const std::vector<int64_t>& axis_sizes);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_BLOCKS_H_
