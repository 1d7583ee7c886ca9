// NoiseInterval: how sure a measured time is.
//
// Concept: a plan counts the minimum of a program's samples. Were it measured
// again on equal hardware, old and new samples would be two equal batches. The
// new minimum is above the k-th smallest of the old samples only if the k
// smallest of both together are all old. That has a chance of about 2^-k,
// whatever the distribution. The same holds below it, with the spacing of the
// new samples. So with k = kRank
//
//     noise = (k-th smallest sample) - (smallest sample), either way
//
// holds the new minimum nine times of ten if delays only add to a time (a
// normal distribution: four times of five). Samples of one batch do not know
// how batches differ: the noise is at least kResolution of the time, the
// resolution of the measuring protocol. A row of fewer than kRank samples has
// kFewSamples of its time; a row without samples counts as exact (no device
// wrote it). An estimated row states its own error.
// In → Out: a measurement → the noise of its minimum.
// Source: docs/decisions/measuring.md; order statistics.
#ifndef MESHWRIGHT_COORDINATOR_ESTIMATION_NOISE_INTERVAL_H_
#define MESHWRIGHT_COORDINATOR_ESTIMATION_NOISE_INTERVAL_H_

#include "planner/problem/plan_problem.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::estimation {

inline constexpr int kRank = 5;
inline constexpr double kResolution = 0.01;
inline constexpr double kFewSamples = 0.1;

// Nanoseconds, to either side.
double EstimateNoiseNs(const v1::Measurement& measurement);

// The noise of a sum of times with independent errors.
class IndependentNoise {
 public:
  // The noise of one more term, to either side.
  void Add(double nanoseconds) { squares_ += nanoseconds * nanoseconds; }

  // To either side of `time`, which is never below zero.
  problem::NoiseInterval Around(problem::Picoseconds time) const;

 private:
  double squares_ = 0;
};

}  // namespace meshwright::estimation

#endif  // MESHWRIGHT_COORDINATOR_ESTIMATION_NOISE_INTERVAL_H_
