// The ids of the queue. A job's text is "job-17".
//
// Threads: pure functions.
// Errors: ParseJobId gives kInvalidArgument for a text that is none.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_IDS_H_
#define MESHWRIGHT_COORDINATOR_JOBS_IDS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/strong_id.h"

namespace meshwright::jobs {

using JobId = base::StrongId<struct JobTag>;
// One attachment of a worker; a worker that comes back gets a new one.
using WorkerId = base::StrongId<struct WorkerTag>;

std::string FormatJobId(JobId id);
absl::StatusOr<JobId> ParseJobId(absl::string_view text);

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_IDS_H_
