// CountBytes: what a configuration keeps on one device, beside what its program
// needs while it runs: state, saved values and sums (configuration.h).
//
// Units: bytes on one device.
// Threads: pure function.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_SEGMENT_MEMORY_H_
#define MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_SEGMENT_MEMORY_H_

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/configurations/backward_reads.h"
#include "coordinator/space/configurations/configuration.h"

namespace meshwright::space {

// Fills the bytes of a configuration from its annotation.
void CountBytes(const segmenter::Analysis& analysis,
                const segmenter::SegmentGraph& graph,
                const BackwardReads& reads, const Mesh& mesh,
                Configuration& configuration);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_SEGMENT_MEMORY_H_
