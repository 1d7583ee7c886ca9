// The strategies that people choose by hand: data and tensor parallelism.
//
// Concept: data parallel takes the rows of every block. Tensor parallel takes
// experts or columns, and behind columns, where a block reads them straight,
// the contraction (Megatron's pairs). Outer mesh axes keep the batch. In ->
// Out: an analysis -> by block, the place of its strategy; a block that has
// none of these takes its first.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_BASELINE_STRATEGIES_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_BASELINE_STRATEGIES_H_

#include <vector>

#include "coordinator/segmenter/analysis.h"

namespace meshwright::segmenter {

// Whether all axes but the searched one, the last that splits, take the batch.
bool TakesBatchOutside(const Strategy& strategy);

std::vector<int> ChooseDataParallel(const Analysis& analysis);
std::vector<int> ChooseTensorParallel(const Analysis& analysis);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_BASELINE_STRATEGIES_H_
