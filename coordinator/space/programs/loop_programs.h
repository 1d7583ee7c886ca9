// The programs that stand for a segment with loops.
//
// Concept: a counted loop is timed at kLongTrips and at kShortTrips trips, and
// a line through both gives its time at all of them. Loops within it run whole,
// and so do those beside it that have other trips. The update outside of the
// loop counts once. A segment inside a loop that is looked through (gradient
// accumulation) is timed for one trip, which takes over the sums of the trip
// before. Operations outside of the loop are timed alone. A step of n trips is
// n times the first and once the second.
// In -> Out: a segment with one configuration -> program, weight and
// corrections of the configuration. With `part` the same of a part of the
// segment, without what stands outside of loops that are looked through.
// Threads: pure functions, one per ProgramSet.
// Source: docs/decisions/program-keys.md.
#ifndef MESHWRIGHT_COORDINATOR_SPACE_PROGRAMS_LOOP_PROGRAMS_H_
#define MESHWRIGHT_COORDINATOR_SPACE_PROGRAMS_LOOP_PROGRAMS_H_

#include <string>
#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/configurations/configuration.h"
#include "coordinator/space/programs/program_set.h"
#include "coordinator/space/programs/segment_program.h"

namespace meshwright::space {

inline constexpr int64_t kLongTrips = 4;
inline constexpr int64_t kShortTrips = 2;

void MakeSegmentPrograms(const segmenter::Analysis& analysis,
                         const segmenter::SegmentGraph& graph,
                         const std::vector<v1::InputSpec>& inputs,
                         const KeyContext& context, const std::string& label,
                         ProgramSet& programs, Configuration& configuration,
                         const ProgramPart& part = {});

// Trips of the loops around a segment that are looked through.
int64_t CountOuterTrips(const segmenter::Analysis& analysis,
                        const segmenter::SegmentGraph& graph);

}  // namespace meshwright::space

#endif  // MESHWRIGHT_COORDINATOR_SPACE_PROGRAMS_LOOP_PROGRAMS_H_
