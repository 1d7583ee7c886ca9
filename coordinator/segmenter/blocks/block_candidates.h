// Candidates: the dimensions along which a block may be split, per kind of
// strategy.
// In -> Out: grown blocks -> ParallelBlock::candidates.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_BLOCK_CANDIDATES_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_BLOCK_CANDIDATES_H_

#include <vector>

#include "coordinator/ir/module.h"
#include "coordinator/segmenter/blocks/grow_blocks.h"
#include "coordinator/segmenter/blocks/parallel_block.h"

namespace meshwright::segmenter {

// Fills the candidates of every block, whose roots are known.
void FindCandidates(const ir::Module& module, const GrownBlocks& grown,
                    std::vector<ParallelBlock>& blocks);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_BLOCK_CANDIDATES_H_
