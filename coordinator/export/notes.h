// What the switches of a space could not do, as sentences.
#ifndef MESHWRIGHT_COORDINATOR_EXPORT_NOTES_H_
#define MESHWRIGHT_COORDINATOR_EXPORT_NOTES_H_

#include <string>
#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/profile_space.h"

namespace meshwright::exporting {

// One per switch that leaves parameters whole: how many, and which.
std::vector<std::string> SwitchNotes(const segmenter::Analysis& analysis,
                                     const space::ProfileSpace& space);

}  // namespace meshwright::exporting

#endif  // MESHWRIGHT_COORDINATOR_EXPORT_NOTES_H_
