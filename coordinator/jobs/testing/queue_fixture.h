// QueueFixture: a queue, and a clock that a test moves.
//
// Threads: one. Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_TESTING_QUEUE_FIXTURE_H_
#define MESHWRIGHT_COORDINATOR_JOBS_TESTING_QUEUE_FIXTURE_H_

#include <gtest/gtest.h>

#include "absl/time/time.h"
#include "base/clock.h"
#include "coordinator/jobs/job_queue.h"

namespace meshwright::jobs {

class QueueFixture : public testing::Test {
 protected:
  void Pass(absl::Duration time) {
    clock_.Advance(time);
    queue_.Tick();
  }

  const JobQueue::Options options_ = {};
  base::FakeClock clock_;
  JobQueue queue_{&clock_, options_};
};

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_TESTING_QUEUE_FIXTURE_H_
