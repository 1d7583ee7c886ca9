// Configurations of a segment of blocks: one per combination of its blocks'
// strategies, then the same combinations under each switch that is open.
//
// Source: papers/cfp.txt 4.2, Eq. 7.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_BLOCK_CONFIGURATIONS_H_
#define MESHWRIGHT_COORDINATOR_SPACE_BLOCK_CONFIGURATIONS_H_

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/configuration.h"

namespace meshwright::space {

SegmentType BlockConfigurations(const segmenter::Analysis& analysis,
                                int segment, const Mesh& mesh);

// Every value whole.
AxisAnnotation WholeAxis(const segmenter::SegmentGraph& graph);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_BLOCK_CONFIGURATIONS_H_
