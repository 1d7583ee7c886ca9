// Quality: whether the times of one measurement can be trusted.
//
// The rule, in this order:
//   NOISY  others used more than kBusyShare of the processors meanwhile, or
//          fewer samples were kept than the protocol asks for, or the minimum
//          was not met twice within kMetTwiceWithin
//   GOOD   else
// SUSPECT is no judgement of one measurement: the store gives it to one that
// lies far from the other measurements of its key (profiledb/store/summary.h).
// Threads: pure functions.
#ifndef MESHWRIGHT_WORKER_TIMING_QUALITY_H_
#define MESHWRIGHT_WORKER_TIMING_QUALITY_H_

#include "proto/v1/profile.pb.h"
#include "worker/timing/protocol.h"
#include "worker/timing/sample_set.h"

namespace meshwright::worker::timing {

// Share of the processors that others may use: one busy process on two cores
// uses a half; a machine's own daemons use a percent or two.
inline constexpr double kBusyShare = 0.1;
inline constexpr double kMetTwiceWithin = 0.02;

v1::Quality JudgeQuality(const Summary& summary, const Protocol& protocol,
                         double other_load);

}  // namespace meshwright::worker::timing

#endif  // MESHWRIGHT_WORKER_TIMING_QUALITY_H_
