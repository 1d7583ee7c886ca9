// FakeWorker: a worker of the tests. It records what is pushed to it; the test
// decides when it answers, and answers from the test's own thread.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_TESTING_FAKE_WORKER_H_
#define MESHWRIGHT_COORDINATOR_JOBS_TESTING_FAKE_WORKER_H_

#include <string>
#include <utility>
#include <vector>

#include "coordinator/jobs/job_queue.h"

namespace meshwright::jobs {

class FakeWorker : public WorkerPort {
 public:
  FakeWorker(JobQueue* queue, const std::string& name, int devices = 2)
      : queue_(queue) {
    description_.name = name;
    description_.devices = {"cpu", "version 1", "fake", devices};
  }

  WorkerDescription& description() { return description_; }
  void Attach() { id_ = queue_->Attach(description_, this); }
  void Detach(const std::string& reason) { queue_->Detach(id_, reason); }
  WorkerId id() const { return id_; }

  void Push(const std::string& lease,
            const v1::RunnerRequest& request) override {
    leases_.emplace_back(lease, request);
  }
  void Cancel(const std::string& lease) override {
    cancelled_.push_back(lease);
  }
  void Close(const absl::Status& reason) override { closed_.push_back(reason); }

  using Leases = std::vector<std::pair<std::string, v1::RunnerRequest>>;
  const Leases& leases() const { return leases_; }
  const std::vector<std::string>& cancelled() const { return cancelled_; }
  const std::vector<absl::Status>& closed() const { return closed_; }

  // Answers about the newest lease.
  void Report(const std::string& key, v1::Outcome outcome = v1::MEASURED) {
    v1::RunnerEvent event;
    event.mutable_result()->set_key(key);
    event.mutable_result()->set_outcome(outcome);
    Send(event);
  }
  void Finish(const std::string& error = "", bool final = false) {
    v1::RunnerEvent event;
    event.mutable_finished()->set_error(error);
    event.mutable_finished()->set_final(final);
    Send(event);
  }
  // Every program of the newest lease is measured and the lease ends.
  void RunAll() {
    const v1::RunnerRequest request = leases_.back().second;
    for (const v1::Program& program : request.programs()) Report(program.key());
    Finish();
  }

 private:
  void Send(const v1::RunnerEvent& event) {
    // A copy: an answer may bring the next lease.
    const std::string lease = leases_.back().first;
    queue_->Update(id_, lease, event);
  }

  JobQueue* const queue_;
  WorkerDescription description_;
  WorkerId id_;
  Leases leases_;
  std::vector<std::string> cancelled_;
  std::vector<absl::Status> closed_;
};

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_TESTING_FAKE_WORKER_H_
