// Score: what the measurements predict for a choice of configurations.
//
// In → Out: a measured step and one configuration per segment → its figures,
// as a whole and by segment. The whole is the sum of the segments, their
// resharding; for the bytes problem/peak_timeline.h.
// Units: seconds; bytes per device.
// Errors: kNotFound for a configuration that was not measured, those of
// problem::Evaluate.
#ifndef MESHWRIGHT_COORDINATOR_PLANNING_SCORE_H_
#define MESHWRIGHT_COORDINATOR_PLANNING_SCORE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/planning/measured_step.h"

namespace meshwright::planning {

struct SegmentCost {
  double seconds = 0;
  double communication_seconds = 0;  // the part of these
  double median_seconds = 0;         // by the medians of its programs
  double resharding_seconds = 0;     // at boundaries with earlier segments
  int64_t memory_bytes = 0;          // persistent and saved
};

struct Score {
  double seconds = 0;                // resharding included
  double communication_seconds = 0;  // resharding not included
  double resharding_seconds = 0;
  double median_seconds = 0;  // as `seconds`, by medians of segments
  // Where `seconds` are expected if everything is measured again.
  double low_seconds = 0;
  double high_seconds = 0;
  int64_t peak_bytes = 0;
  std::vector<SegmentCost> segments;
};

// Of one segment of a type with a configuration that was measured, which costs
// `config`; without resharding.
SegmentCost ScoreSegment(const MeasuredStep& step,
                         segmenter::SegmentTypeId type, int configuration,
                         const problem::Config& config);

// By copy, in the order of the nodes: the time of its boundaries with earlier
// ones.
std::vector<double> SumReshardingSeconds(const problem::PlanProblem& problem,
                                         const problem::Choice& choice);

absl::StatusOr<Score> ScoreChoice(const MeasuredStep& step,
                                  const space::SegmentChoice& choice);

}  // namespace meshwright::planning

#endif  // MESHWRIGHT_COORDINATOR_PLANNING_SCORE_H_
