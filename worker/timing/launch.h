// TakeOutLaunch: a row's times without what it costs to launch a program.
//
// Concept: a step is launched once, and a segment timed alone is, too. The sum
// of a step's segments would count a launch for each of them. A sample of
// several executions has the mean of as many launches, whose low decile lies
// above that of single ones (FindLowOfMeans in sample_set.h).
// Threads: pure functions.
#ifndef MESHWRIGHT_WORKER_TIMING_LAUNCH_H_
#define MESHWRIGHT_WORKER_TIMING_LAUNCH_H_

#include "absl/time/time.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::worker::timing {

// Shortens all times of the row, whose `launch_ns` then says by how much.
void TakeOutLaunch(absl::Duration launch, v1::Measurement& measurement);

// What may be taken out of the row where another program's launch was timed: a
// tenth of its minimum and a microsecond stay, since no program is all launch.
absl::Duration LimitLaunch(absl::Duration launch,
                           const v1::Measurement& measurement);

}  // namespace meshwright::worker::timing

#endif  // MESHWRIGHT_WORKER_TIMING_LAUNCH_H_
