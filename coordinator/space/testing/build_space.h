// BuildSpace: the profile space of an analysis, on its mesh and with no other
// parts of a key.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_TESTING_BUILD_SPACE_H_
#define MESHWRIGHT_COORDINATOR_SPACE_TESTING_BUILD_SPACE_H_

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/profile_space.h"

namespace meshwright::space {

ProfileSpace BuildSpace(const segmenter::Analysis& analysis);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_TESTING_BUILD_SPACE_H_
