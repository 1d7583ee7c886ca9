// SegmentRun: equal segments in a row, which are one node of the problem.
//
// Concept: a run ends where an edge leaves other than to the next equal
// segment. It also ends where a step differs from that of the first copy of the
// type to the second. Values that two copies share and hand on are stated once
// per type.
#ifndef MESHWRIGHT_COORDINATOR_PROBLEM_SEGMENT_RUNS_H_
#define MESHWRIGHT_COORDINATOR_PROBLEM_SEGMENT_RUNS_H_

#include <vector>

#include "coordinator/segmenter/analysis.h"
#include "coordinator/space/profile_space.h"

namespace meshwright::formulation {

struct SegmentRun {
  segmenter::SegmentIndex first_segment;
  int count = 0;
};

// In order, all segments.
std::vector<SegmentRun> FoldRuns(const segmenter::Analysis& analysis,
                                 const space::ProfileSpace& space);

}  // namespace meshwright::formulation

#endif  // MESHWRIGHT_COORDINATOR_PROBLEM_SEGMENT_RUNS_H_
