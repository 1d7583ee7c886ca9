// Protocol: the measuring protocol with every default filled in.
//
// Errors: ReadProtocol says kInvalidArgument for numbers that contradict.
#ifndef MESHWRIGHT_WORKER_TIMING_PROTOCOL_H_
#define MESHWRIGHT_WORKER_TIMING_PROTOCOL_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/v1/job.pb.h"

namespace meshwright::worker::timing {

struct Protocol {
  int warm_up_runs = 1;  // before every sample
  int minimum_samples = 12;
  // A program is sampled at least this long. The shorter it is, the more its
  // runs differ by how fast threads wake, and the more are needed. At most
  // kMaxSamples all the same.
  absl::Duration minimum_time = absl::Milliseconds(250);
  // No more once minimum_time is over, whether the median is sure or not.
  int maximum_samples = 60;
  // A sample lasts at least this long: shorter programs are executed several
  // times per sample, because one run of theirs is mostly the launch's noise.
  absl::Duration minimum_sample = absl::Milliseconds(1);
  // Execution budget of one program, warm-up included.
  absl::Duration time_limit = absl::Seconds(60);
  absl::Duration compile_limit = absl::Minutes(10);
  // A program may be this many times slower in its first pass than the fastest
  // of its group. A slower one keeps the samples of that pass and gets no more.
  // 0: never.
  double dynamic_limit_ratio = 0;
  // The median is sure once its standard error is this share of it.
  double sure_within = 0.015;
  // Programs whose times are this near to each other are timed again.
  double tie_within = 0.01;
  int tie_passes = 6;
  // A sample is of a slow period when its CPU time per wall time is below this
  // share of the program's usual one. 0: no sample is.
  double slow_share = 0.8;

  static constexpr int kMaxSamples = 1000;
  static constexpr int kMaxExecutions = 1000;
};

absl::StatusOr<Protocol> ReadProtocol(const v1::MeasureOptions& options);

}  // namespace meshwright::worker::timing

#endif  // MESHWRIGHT_WORKER_TIMING_PROTOCOL_H_
