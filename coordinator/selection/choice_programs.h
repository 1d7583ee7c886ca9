// The programs of the space that a choice of configurations is made of.
#ifndef MESHWRIGHT_COORDINATOR_SELECTION_CHOICE_PROGRAMS_H_
#define MESHWRIGHT_COORDINATOR_SELECTION_CHOICE_PROGRAMS_H_

#include <set>
#include <vector>

#include "coordinator/export/whole_model.h"
#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/profile_space.h"

namespace meshwright::selection {

// All programs of the space that a configuration's cost is made of.
std::vector<space::ProgramId> ListPrograms(
    const space::Configuration& configuration);

// Those of its segments, and the resharding between them.
std::set<space::ProgramId> ListChoicePrograms(
    const segmenter::Analysis& analysis, const space::ProfileSpace& space,
    const space::SegmentChoice& choice);

// The same of the segments from `first` on that `run` has configurations for.
std::set<space::ProgramId> ListRunPrograms(const segmenter::Analysis& analysis,
                                           const space::ProfileSpace& space,
                                           segmenter::SegmentIndex first,
                                           const std::vector<int>& run);

}  // namespace meshwright::selection

#endif  // MESHWRIGHT_COORDINATOR_SELECTION_CHOICE_PROGRAMS_H_
