// SampleSet: the samples of one program and what they say.
//
// Concept: a shared machine has slow periods of tens of seconds. A run then
// waits for cores that others hold: its CPU time per wall time drops. Such
// samples are set aside. The usual ratio differs by program, so it is taken
// from the program's own samples: their upper quartile.
// Threads: one.
#ifndef MESHWRIGHT_WORKER_TIMING_SAMPLE_SET_H_
#define MESHWRIGHT_WORKER_TIMING_SAMPLE_SET_H_

#include <vector>

#include "absl/time/time.h"

namespace meshwright::worker::timing {

// A tenth of the samples is faster.
inline constexpr double kLow = 0.1;

struct Sample {
  absl::Duration wall;
  absl::Duration cpu;
};

struct Summary {
  // Zero without samples.
  absl::Duration minimum;
  absl::Duration low;  // the quantile kLow: what a row's time is
  absl::Duration median;
  absl::Duration mad;                // median of |sample - median|
  double error = 0;                  // standard error of the median, a share
  std::vector<absl::Duration> kept;  // in the order they were taken
  int dropped = 0;
};

// The quantile kLow of the means of every `count` samples that follow each
// other: of what a sample of so many executions is the mean of. The mean of all
// where they are fewer; zero where there is none.
absl::Duration FindLowOfMeans(const std::vector<absl::Duration>& samples,
                              int count);

class SampleSet {
 public:
  // In the order in which they were taken.
  void Add(const Sample& sample) { samples_.push_back(sample); }
  int size() const { return static_cast<int>(samples_.size()); }

  // `slow_share`: see Protocol.
  Summary Summarize(double slow_share) const;

 private:
  std::vector<Sample> samples_;
};

}  // namespace meshwright::worker::timing

#endif  // MESHWRIGHT_WORKER_TIMING_SAMPLE_SET_H_
