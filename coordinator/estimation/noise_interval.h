// Spreads: how sure a measured time is.
//
// Concept: a plan counts the minimum of a program's samples. Were it measured
// again on equal hardware, the new minimum would be one of two equal batches of
// samples', so that which of the two is smaller is a toss, and the new one is
// above the k-th smallest of the old only if the k smallest of both together
// are all old: with a chance of about 2^-k, whatever the distribution. The
// other way round alike, with the spacing of the new samples. So with k = kRank
//
//     spread = (k-th smallest sample) - (smallest sample), either way
//
// holds the new minimum over nine times of ten where delays only add to a time
// (a bell without a lower end: four of five). Samples of one batch do not know
// how batches differ: the spread is at least kResolution of the time, what the
// measuring protocol itself tells programs apart by. A row of fewer than kRank
// samples is believed to kFewSamples; one without any is taken as exact (no
// device wrote it). An estimated row says itself how far it may be off.
// In → Out: a measurement → the spread of its minimum.
// Source: design, section 5 (minimum, near-ties); order statistics.
#ifndef MESHWRIGHT_COORDINATOR_ESTIMATION_NOISE_INTERVAL_H_
#define MESHWRIGHT_COORDINATOR_ESTIMATION_NOISE_INTERVAL_H_

#include "planner/problem/plan_problem.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::estimation {

inline constexpr int kRank = 5;
inline constexpr double kResolution = 0.01;
inline constexpr double kFewSamples = 0.1;

// Nanoseconds, to either side.
double SpreadNs(const v1::Measurement& measurement);

// The spread of a sum of times that err independently.
class IndependentSpreads {
 public:
  void Add(double nanoseconds) { squares_ += nanoseconds * nanoseconds; }

  // To either side of `time`, which is never below nothing.
  problem::Spread Around(problem::Picoseconds time) const;

 private:
  double squares_ = 0;
};

}  // namespace meshwright::estimation

#endif  // MESHWRIGHT_COORDINATOR_ESTIMATION_NOISE_INTERVAL_H_
