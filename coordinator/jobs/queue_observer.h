// QueueObserver: hears what came of the programs of a queue, to count it.
//
// Threads: called under the queue's lock, so it returns at once and does not
// call the queue. Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_QUEUE_OBSERVER_H_
#define MESHWRIGHT_COORDINATOR_JOBS_QUEUE_OBSERVER_H_

#include "proto/v1/profile.pb.h"

namespace meshwright::jobs {

class QueueObserver {
 public:
  virtual ~QueueObserver() = default;
  // The result that a program's submitters get.
  virtual void AddResult(const v1::ProfileResult& result) = 0;
};

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_QUEUE_OBSERVER_H_
