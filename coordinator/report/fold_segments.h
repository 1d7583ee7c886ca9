// FoldSegments: equal segments in a row as one run, and rows of runs that
// repeat as one part.
//
//   0  1 1 1 1  2            a run of four
//   0  1 2 1 2 1 2  3        the runs 1, 2 repeated three times
//
// Concept: segments of one type and configuration in a row form a run. Models
// whose layers alternate have short runs that repeat; up to eight of them are
// folded together. The longest stretch is folded first.
// In → Out: segments, the number of the first → groups in their order, which
// cover every segment once. Figures of a run are sums over all its segments.
// Units: seconds of a step, or in stages of one micro-batch (of all where the
// model itself loops over them); bytes per device.
// Threads: pure function.
#ifndef MESHWRIGHT_COORDINATOR_REPORT_FOLD_SEGMENTS_H_
#define MESHWRIGHT_COORDINATOR_REPORT_FOLD_SEGMENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/v1/plan.pb.h"

namespace meshwright::report {

struct Run {
  int first = 0;  // number of the first segment of the first repetition
  int count = 0;  // segments in a row, of one repetition
  int type = 0;
  int config = 0;
  std::string describe;
  bool estimated = false;
  double seconds = 0;                // of all repetitions
  double communication_seconds = 0;  // the part of these
  double resharding_seconds = 0;
  int64_t memory_bytes = 0;
};

struct RepeatedRuns {
  int repeat = 1;
  std::vector<Run> runs;
};

std::vector<RepeatedRuns> FoldSegments(
    const google::protobuf::RepeatedPtrField<v1::PlanSegment>& segments,
    int first);

}  // namespace meshwright::report

#endif  // MESHWRIGHT_COORDINATOR_REPORT_FOLD_SEGMENTS_H_
