// CheckXlaFlags: which compiler flags a request may have.
//
// Concept: a request's flags become XLA_FLAGS of a runner on a shared worker.
// XLA reads a text that begins with no flag as the name of a file, and some
// flags have it read or write files wherever the worker's user may. So a
// request has flags of the form --xla_NAME or --xla_NAME=VALUE, with values
// that are no paths, and none whose name speaks of files. An operator gives a
// worker others in MESHWRIGHT_XLA_FLAGS.
//   Which flags there are, the plugin knows: one that it does not know ends the
// runner, and the plan with it (coordinator/jobs/job_queue.h).
// Threads: a pure function. Errors: kInvalidArgument, one sentence that names
// the flag.
#ifndef MESHWRIGHT_COORDINATOR_SECURITY_XLA_FLAGS_H_
#define MESHWRIGHT_COORDINATOR_SECURITY_XLA_FLAGS_H_

#include <string>

#include "absl/status/status.h"

namespace meshwright::security {

// `flags`: with spaces between them; none is fine.
absl::Status CheckXlaFlags(const std::string& flags);

}  // namespace meshwright::security

#endif  // MESHWRIGHT_COORDINATOR_SECURITY_XLA_FLAGS_H_
