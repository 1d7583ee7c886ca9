// The part of another team's job that a caller sees.
//
// Concept: whoever may read sees every job, since it says why his own waits:
// its state, its size and its workers. Whose it is and what for is for those
// who may see its plan (plan_access.h).
// Threads: pure function. Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_JOB_ACCESS_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_JOB_ACCESS_H_

#include "coordinator/security/guard.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::service {

v1::JobSummary ShowTo(const security::Caller& caller, v1::JobSummary job);

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_JOB_ACCESS_H_
