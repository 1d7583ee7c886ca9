// Configurations of a segment of blocks: one per combination of its blocks'
// strategies (combinations.h), under every open switch (switches.h). Each
// pinned split of shared parameters (parameter_links.h) adds them once more.
//
// Threads: pure functions.
// Source: papers/cfp.txt 4.2, Eq. 7.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_BLOCK_CONFIGURATIONS_H_
#define MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_BLOCK_CONFIGURATIONS_H_

#include <map>
#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/configurations/configuration.h"

namespace meshwright::space {

// Splits that a segment's values are given, by value index.
using ParameterPins = std::map<int, Sharding>;

SegmentType MakeBlockConfigurations(
    const segmenter::Analysis& analysis, segmenter::SegmentIndex segment,
    const Mesh& mesh, const std::vector<ParameterPins>& pins = {});

// The annotation that the strategies of a segment's blocks, none at an end,
// and pins make.
SegmentAnnotation AnnotateSegment(
    const segmenter::Analysis& analysis, segmenter::SegmentIndex segment,
    const std::vector<const segmenter::Strategy*>& strategies, const Mesh& mesh,
    const ParameterPins& pins);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_CONFIGURATIONS_BLOCK_CONFIGURATIONS_H_
