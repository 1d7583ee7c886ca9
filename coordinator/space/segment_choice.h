// SegmentChoice: one configuration for every segment of a step.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_SEGMENT_CHOICE_H_
#define MESHWRIGHT_COORDINATOR_SPACE_SEGMENT_CHOICE_H_

#include <vector>

namespace meshwright::space {

// By segment: index among the configurations of its type.
using SegmentChoice = std::vector<int>;

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_SEGMENT_CHOICE_H_
