// Configurations of a prologue or epilogue.
//
// Concept: an end has no blocks and so no strategies. Its configurations are
// the shardings its neighbours can want at its boundaries, times the shardings
// that the parameters it shares with other segments can have. Threads: pure
// functions.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_END_CONFIGURATIONS_H_
#define MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_END_CONFIGURATIONS_H_

#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/configurations/configuration.h"

namespace meshwright::space {

// A parameter that a prologue or epilogue shares with a segment of blocks (tied
// embeddings): one decision for both.
struct SharedParameter {
  segmenter::SegmentIndex end_segment;  // the one without blocks
  segmenter::SegmentIndex block_segment;
  int end_value = 0;  // value indices of the two graphs
  int block_value = 0;
};

std::vector<SharedParameter> FindSharedParameters(
    const segmenter::Analysis& analysis);

// `types` has the configurations of all segments of blocks.
SegmentType EndConfigurations(const segmenter::Analysis& analysis,
                              segmenter::SegmentIndex segment,
                              const std::vector<SegmentType>& types,
                              const std::vector<SharedParameter>& shared,
                              const Mesh& mesh);

bool HasBlocks(const segmenter::Analysis& analysis,
               segmenter::SegmentIndex segment);

// A segment of scalars only costs nothing and has no program.
bool IsFree(const segmenter::Analysis& analysis,
            const segmenter::SegmentGraph& graph);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_END_CONFIGURATIONS_H_
