// The order of blocks in their sequence.
//
// Concept: dependency order, one stack of layers after the other. Each block
// stands behind what it reads, and the deepest of what it reads comes first. An
// encoder thus ends before the decoder that reads it begins. Ties go by
// structural hash.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_BLOCK_SEQUENCE_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_BLOCK_SEQUENCE_H_

#include <cstdint>
#include <vector>

#include "coordinator/ir/module.h"
#include "coordinator/segmenter/blocks/grow_blocks.h"

namespace meshwright::segmenter {

// Numbers of the union-find blocks.
std::vector<int> OrderBlocks(const ir::Module& module, const GrownBlocks& grown,
                             const std::vector<uint64_t>& hashes);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_BLOCK_SEQUENCE_H_
