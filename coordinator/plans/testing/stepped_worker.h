// SteppedWorker: a worker that runs a lease when the test says so.
//
// Threads: the queue calls it from any thread, the test from one.
// Errors: it dies where the queue does not take it.
#ifndef MESHWRIGHT_COORDINATOR_PLANS_TESTING_STEPPED_WORKER_H_
#define MESHWRIGHT_COORDINATOR_PLANS_TESTING_STEPPED_WORKER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/log/log_context.h"
#include "base/mutex.h"
#include "coordinator/jobs/job_queue.h"
#include "coordinator/jobs/worker_port.h"

namespace meshwright::plans {

class SteppedWorker : public jobs::WorkerPort {
 public:
  explicit SteppedWorker(jobs::JobQueue* queue,
                         const std::string& version = "version 1",
                         const std::string& platform = "cpu");
  ~SteppedWorker() override;

  void Greet(const jobs::Welcome& /*welcome*/) override {}
  void Push(jobs::LeaseId lease, const v1::RunnerRequest& request) override;
  void Cancel(jobs::LeaseId lease) override;
  void Acknowledge(jobs::LeaseId lease) override;
  void Tell(jobs::LeaseId /*lease*/,
            const v1::GangMessage& /*message*/) override {}
  void Close(const absl::Status& /*reason*/) override {}

  // Until there is a lease.
  void Await();
  // Measures the next `count` programs of the lease.
  void Measure(int count);
  // The whole lease.
  void Serve();
  void Finish();
  jobs::WorkerId id() const { return id_; }
  // Of the newest lease.
  base::LogContext context();
  // The keys of all leases, in their order.
  std::vector<std::string> seen();
  int cancelled();
  int acknowledged();

 private:
  bool HasLease() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return lease_.has_value();
  }

  jobs::JobQueue* const queue_;
  jobs::WorkerId id_;
  base::Mutex mutex_;
  std::optional<jobs::LeaseId> lease_ ABSL_GUARDED_BY(mutex_);
  base::LogContext context_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> keys_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> seen_ ABSL_GUARDED_BY(mutex_);
  int cancelled_ ABSL_GUARDED_BY(mutex_) = 0;
  int acknowledged_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace meshwright::plans

#endif  // MESHWRIGHT_COORDINATOR_PLANS_TESTING_STEPPED_WORKER_H_
