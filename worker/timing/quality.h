// Quality: whether the times of one measurement can be trusted, and why not.
//
// The rule:
//   BUSY_MACHINE      others used more than kBusyShare of the processors, or of
//                     an accelerator, meanwhile
//   FEW_SAMPLES       fewer samples were kept than the protocol asks for
//   MINIMUM_MET_ONCE  the minimum was not met twice within kMetTwiceWithin
//   THROTTLED         the device's clocks were held down meanwhile
// A measurement that one of these holds for is NOISY, any other GOOD. SUSPECT
// is no judgement of one measurement: the store gives it to one that lies far
// from the other measurements of its key (profiledb/store/summary.h).
// Whoever reads a row takes its reasons from there, and judges nothing again.
// Threads: pure functions.
#ifndef MESHWRIGHT_WORKER_TIMING_QUALITY_H_
#define MESHWRIGHT_WORKER_TIMING_QUALITY_H_

#include "proto/v1/profile.pb.h"
#include "worker/timing/protocol.h"
#include "worker/timing/sample_set.h"

namespace meshwright::worker::timing {

// Share of the processors that others may use: one busy process on two cores
// uses a half. A machine's own daemons use a percent or two.
inline constexpr double kBusyShare = 0.1;
inline constexpr double kMetTwiceWithin = 0.02;

// Conditions beside the samples.
struct Surroundings {
  double other_load = 0;  // as Measurement.other_load
  bool throttled = false;
};

// Sets quality, noise and other_load.
void JudgeQuality(const Summary& summary, const Protocol& protocol,
                  const Surroundings& surroundings,
                  v1::Measurement& measurement);

}  // namespace meshwright::worker::timing

#endif  // MESHWRIGHT_WORKER_TIMING_QUALITY_H_
