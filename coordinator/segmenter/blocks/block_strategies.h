// The strategies of a block on a mesh.
//
// In -> Out: candidates of a block -> for every combination of kinds over the
// axes the outermost dimensions that divide. A combination that does not divide
// is lost, with its reason.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_BLOCK_STRATEGIES_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_BLOCK_STRATEGIES_H_

#include <cstdint>
#include <vector>

#include "coordinator/segmenter/blocks/blocks.h"
#include "coordinator/segmenter/blocks/strategy.h"

namespace meshwright::segmenter {

// `mesh` has every axis, outermost first.
StrategySet ListBlockStrategies(const ir::Module& module,
                                const ParallelBlock& block,
                                const std::vector<int64_t>& mesh,
                                bool open_outer_axes);

// The block whole on every axis.
Strategy Replicated(const ParallelBlock& block,
                    const std::vector<int64_t>& mesh);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_BLOCKS_BLOCK_STRATEGIES_H_
