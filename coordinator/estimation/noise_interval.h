// NoiseInterval: how sure a measured time is.
//
// Concept: a plan counts the low decile of a program's samples (older rows'
// median). Were it measured again on equal hardware, old and new samples would
// be two equal batches, and the difference of their times has the standard
// error of one times the root of two. So the noise, either way, is
//
//     kNineOfTen x (standard error of the time)
//
// which holds the new time nine times of ten. Samples of one batch do not
// know how batches differ. So the noise is at least the spread of the key's
// measurements, where it has several. It is at least kResolution of the time,
// the resolution of the measuring protocol. A row of fewer than kEnoughSamples
// has kFewSamples of its time; a row without samples counts as exact (no device
// wrote it). An estimated row states its own error.
// In → Out: a measurement → the noise of its time.
// Source: docs/decisions/measuring.md; profiledb/store/row_time.h.
#ifndef MESHWRIGHT_COORDINATOR_ESTIMATION_NOISE_INTERVAL_H_
#define MESHWRIGHT_COORDINATOR_ESTIMATION_NOISE_INTERVAL_H_

#include "planner/problem/plan_problem.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::estimation {

inline constexpr double kNineOfTen = 1.645 * 1.414;  // of a normal one
inline constexpr int kEnoughSamples = 5;
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
