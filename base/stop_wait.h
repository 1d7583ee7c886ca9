// WaitFor: a pause that a stop ends.
//
// Threads: blocks; from any. Errors: none.
#ifndef MESHWRIGHT_BASE_STOP_WAIT_H_
#define MESHWRIGHT_BASE_STOP_WAIT_H_

#include <stop_token>

#include "absl/time/time.h"

namespace meshwright::base {

// False: a stop was requested before the time was over.
bool WaitFor(absl::Duration time, const std::stop_token& stop);

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_STOP_WAIT_H_
