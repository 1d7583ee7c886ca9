// The variants of a configuration: its switches, and the pins of a request.
//
// Threads: pure functions.
// Source: docs/decisions/segment-switches.md.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_SWITCHES_H_
#define MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_SWITCHES_H_

#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/configurations/configuration.h"

namespace meshwright::space {

// Appends to `type` one configuration per switch that the request allows this
// segment, beginning with `plain` itself. Where recomputation is allowed, each
// of them is added a second time with it. Those of the latter that the request
// names are also added in every role of a group (groups.h). A switch that
// changes nothing adds none; pinned, it is the plain configuration. Arguments
// are split as the request pins them; configurations that split one as it
// forbids are left out.
void AppendVariants(const segmenter::Analysis& analysis,
                    const segmenter::SegmentGraph& graph,
                    const std::vector<const segmenter::Strategy*>& strategies,
                    const Configuration& plain, const Mesh& mesh,
                    SegmentType& type);

// By configuration the first of those that differ from it by their switch
// alone.
std::vector<int> FindPlainConfigurations(const SegmentType& type);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_SWITCHES_H_
