// JobEvents: the mailbox between the queue and the one who submitted a job.
//
// Concept: the queue adds events and never waits; the submitter takes them out
// in the order they happened, one by one or those that are there together. The
// last event is always JobDone.
// Threads: Add from any thread, Next and NextOnes from one.
// Errors: none of its own; JobDone carries those of job_queue.h.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_JOB_EVENTS_H_
#define MESHWRIGHT_COORDINATOR_JOBS_JOB_EVENTS_H_

#include <cstddef>
#include <deque>
#include <utility>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/mutex.h"
#include "proto/v1/job.pb.h"
#include "proto/v1/profile.pb.h"

namespace meshwright::jobs {

// The job is over. OK: every program has had its result.
struct JobDone {
  absl::Status status;
};

using JobEvent = std::variant<v1::RunnerEvent::Started, v1::ProfileResult,
                              v1::RunnerEvent::Compared, JobDone>;

class JobEvents {
 public:
  // Never waits; wakes the reader.
  void Add(JobEvent event) {
    base::MutexLock lock(&mutex_);
    events_.push_back(std::move(event));
  }

  // Blocks until there is one.
  JobEvent Next() {
    base::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &JobEvents::HasEvent));
    JobEvent event = std::move(events_.front());
    events_.pop_front();
    return event;
  }

  // Blocks until there is one; takes those that are there, up to `most`.
  std::vector<JobEvent> NextOnes(size_t most) {
    base::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &JobEvents::HasEvent));
    std::vector<JobEvent> events;
    while (!events_.empty() && events.size() < most) {
      events.push_back(std::move(events_.front()));
      events_.pop_front();
    }
    return events;
  }

 private:
  bool HasEvent() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !events_.empty();
  }

  base::Mutex mutex_;
  std::deque<JobEvent> events_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_JOB_EVENTS_H_
