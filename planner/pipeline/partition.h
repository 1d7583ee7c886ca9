// PartitionStages: the cut of a line of segments into stages on sub-meshes with
// the least step time; exact.
//
// Concept: t_i is the time of one micro-batch forward and backward through
// stage i, c_i that of its two transfers behind stage i. The step is taken as
//
//   sum t_i + sum c_i + (m - 1) T,   T = the slowest part,
//
// which equal stages reach: the first micro-batch goes all the way, then every
// T another one ends. With overlap a part is a stage or a link in one
// direction; without, a stage together with its transfers.
//
// For a given bound on T a dynamic program over (segments left, devices left,
// stages left) finds the least sum. The sum does not rise with T, so an
// interval of bounds [lo, hi] has no step below sum(hi) + (m - 1) lo. The
// search opens intervals, cheapest first, until none can beat the best. A
// solved bound closes all bounds down to the slowest part it found.
//
// Memory: a stage of which q - 1 stages follow holds the activations of
// WarmUpForwards(schedule, q) micro-batches beside its persistent bytes. Only
// with a limit does the program count stages, and no further than the schedule
// does.
// Where stages are no sums of segments the same holds: the program goes through
// stages, whatever they cost.
// In → Out: a problem and the schedule whose memory counts → the partition with
// a certified bound. If none fits, the minimum memory over all of them.
// Anytime: a deadline or a stop gives the best so far with the bound so far.
// Before the first program is done, which only large problems notice, it gives
// one stage. Ties: the same answer every time. Threads: any number of calls at
// once. Errors: kInvalidArgument for a problem that does not validate,
// kOutOfRange for one whose tables would not fit into memory, kDeadlineExceeded
// where the end came first and one stage does not fit. Source: papers/cfp.txt
// 5.6 and Alpa's inter-operator pass, whose formula this is; there T is scanned
// upwards, with a tolerance.
#ifndef MESHWRIGHT_PLANNER_PIPELINE_PARTITION_H_
#define MESHWRIGHT_PLANNER_PIPELINE_PARTITION_H_

#include <chrono>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/deadline.h"
#include "planner/pipeline/partition_problem.h"
#include "planner/pipeline/pipeline_problem.h"

namespace meshwright::pipeline {

struct PartitionAnswer {
  std::optional<Partition> partition;  // empty: none fits
  Picoseconds step{0};                 // by the formula above
  Picoseconds lower_bound{0};
  std::optional<int64_t> min_bytes;  // when none fits the limit
  int programs = 0;                  // dynamic programs solved
  std::chrono::duration<double> elapsed{0};

  bool Optimal() const { return partition.has_value() && step == lower_bound; }
};

// Whether PartitionStages takes a problem of that size; asks for no costs.
absl::Status CheckPartition(const PartitionProblem& problem, Schedule schedule);

absl::StatusOr<PartitionAnswer> PartitionStages(
    const PartitionProblem& problem, Schedule schedule,
    const base::Deadline& deadline = {});

}  // namespace meshwright::pipeline

#endif  // MESHWRIGHT_PLANNER_PIPELINE_PARTITION_H_
