// Suspension: planning stops here, since the devices it needs are not at hand.
//
// Concept: a plan that waits for devices holds no thread. The measurer ends the
// planning function with a suspension. When the devices are there the function
// runs again from its beginning, and look-ups carry it to where it was.
// Errors: a suspension is kUnavailable with a mark. Whoever handles an
// unavailable device (a mesh that no worker has) hands suspensions on.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_SUSPENSION_H_
#define MESHWRIGHT_COORDINATOR_JOBS_SUSPENSION_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace meshwright::jobs {

absl::Status Suspend(absl::string_view reason);
bool IsSuspended(const absl::Status& status);

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_SUSPENSION_H_
