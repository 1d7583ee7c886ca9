// TakeOutLaunch: a row's times without what it costs to launch a program.
//
// Concept: a step is launched once, and a segment timed alone is, too. The sum
// of a step's segments would count a launch for each of them.
// Threads: pure function.
#ifndef MESHWRIGHT_WORKER_TIMING_LAUNCH_H_
#define MESHWRIGHT_WORKER_TIMING_LAUNCH_H_

#include "absl/time/time.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::worker::timing {

// Shortens all times of the row, whose `launch_ns` then says by how much. A
// tenth of its minimum and a microsecond are left: a launch is never all that a
// program does.
void TakeOutLaunch(absl::Duration launch, v1::Measurement& measurement);

}  // namespace meshwright::worker::timing

#endif  // MESHWRIGHT_WORKER_TIMING_LAUNCH_H_
