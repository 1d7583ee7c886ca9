// Notes on a space, as sentences: strategies and switches that it lacks, and
// searches of its analysis that ended at their bounds.
#ifndef MESHWRIGHT_COORDINATOR_EXPORT_NOTES_H_
#define MESHWRIGHT_COORDINATOR_EXPORT_NOTES_H_

#include <string>
#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/profile_space.h"

namespace meshwright::exporting {

// One for the callbacks to the host. One per search that was cut short. One per
// switch that leaves parameters whole: how many, and which. One per loop of
// which not all combinations of strategies are searched.
std::vector<std::string> ListNotes(const segmenter::Analysis& analysis,
                                   const space::ProfileSpace& space);

}  // namespace meshwright::exporting

#endif  // MESHWRIGHT_COORDINATOR_EXPORT_NOTES_H_
