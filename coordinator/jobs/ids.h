// The ids of the queue.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_IDS_H_
#define MESHWRIGHT_COORDINATOR_JOBS_IDS_H_

#include "base/strong_id.h"

namespace meshwright::jobs {

using JobId = base::StrongId<struct JobTag>;
// One attachment of a worker; a worker that comes back gets a new one.
using WorkerId = base::StrongId<struct WorkerTag>;

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_IDS_H_
