// Quality: whether the times of one measurement can be trusted, and why not.
//
// The rule:
//   BUSY_MACHINE      others used more of the processors, or of an accelerator,
//                     meanwhile than FindBusyShare allows
//   FEW_SAMPLES       fewer samples were kept than the protocol asks for
//   UNSTEADY          the standard error of the median is more than kSteady
//   THROTTLED         the device's clocks were held down meanwhile
// A measurement that one of these holds for is NOISY, any other GOOD. SUSPECT
// is no judgement of one measurement: the store gives it to one that lies far
// from the other measurements of its key (profiledb/store/summary.h).
// Whoever reads a row takes its reasons from there, and judges nothing again.
// Threads: pure functions.
#ifndef MESHWRIGHT_WORKER_TIMING_QUALITY_H_
#define MESHWRIGHT_WORKER_TIMING_QUALITY_H_

#include <optional>

#include "proto/v1/profile.pb.h"
#include "worker/timing/protocol.h"
#include "worker/timing/sample_set.h"

namespace meshwright::worker::timing {

// Of an accelerator, and of few processors.
inline constexpr double kBusyShare = 0.1;
// Of many processors.
inline constexpr double kBusyProcessors = 0.5;
// Of the processors beside an accelerator, which only launch its work.
inline constexpr double kBusyHostShare = 0.5;
// The standard error of a median, as a share of it.
inline constexpr double kSteady = 0.03;

// Share of the processors that others may use: a tenth, but at most half of one
// processor. A program is divided among all processors and waits for the
// slowest of its parts. One busy process thus disturbs it on 128 processors as
// it does on two, where a machine's own daemons use a percent or two.
double FindBusyShare(int processors);

// Conditions beside the samples.
struct Surroundings {
  double other_load = 0;           // as Measurement.other_load
  double busy_share = kBusyShare;  // more than this is busy
  bool throttled = false;
  std::optional<v1::DeviceSensors> sensors;  // of accelerators
};

// Sets quality, noise and other_load; sensors where there are none yet.
void JudgeQuality(const Summary& summary, const Protocol& protocol,
                  const Surroundings& surroundings,
                  v1::Measurement& measurement);

}  // namespace meshwright::worker::timing

#endif  // MESHWRIGHT_WORKER_TIMING_QUALITY_H_
