// FakeWorker: records what a queue tells one worker. The test decides when it
// answers, and answers from the test's own thread.
//
// Threads: one. Errors: a refused Attach fails the test.
#ifndef MESHWRIGHT_COORDINATOR_JOBS_TESTING_FAKE_WORKER_H_
#define MESHWRIGHT_COORDINATOR_JOBS_TESTING_FAKE_WORKER_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "coordinator/jobs/job_queue.h"
#include "coordinator/jobs/worker_port.h"

namespace meshwright::jobs {

class FakeWorker : public WorkerPort {
 public:
  FakeWorker(JobQueue* queue, const std::string& name, int devices = 2)
      : queue_(queue) {
    description_.name = name;
    description_.devices = {"cpu", "version 1", "fake", devices};
  }

  WorkerDescription& description() { return description_; }
  void Attach(const std::vector<HeldLease>& held = {}) {
    const auto id = queue_->Attach(description_, this, held);
    ASSERT_TRUE(id.ok()) << id.status();
    id_ = *id;
  }
  // The connection is lost.
  void Detach(const std::string& reason) { queue_->Detach(id_, reason); }
  // The worker is lost, with the lease at hand.
  void Lose() {
    Detach("the connection ended");
    Attach();
  }
  void Leave() { queue_->Leave(id_); }
  WorkerId id() const { return id_; }
  // The state of the newest lease that it would bring along.
  HeldLease Held(bool is_over = false) const {
    HeldLease held{leases_.back().first, {}, is_over};
    for (const v1::Program& program : leases_.back().second.programs()) {
      held.keys.push_back(program.key());
    }
    return held;
  }

  void Greet(const Welcome& welcome) override { welcome_ = welcome; }
  void Push(LeaseId lease, const v1::RunnerRequest& request) override {
    leases_.emplace_back(lease, request);
  }
  void Cancel(LeaseId lease) override { cancelled_.push_back(lease); }
  void Acknowledge(LeaseId lease) override { acknowledged_.push_back(lease); }
  void Tell(LeaseId lease, const v1::GangMessage& message) override {
    told_.emplace_back(lease, message);
  }
  void Close(const absl::Status& reason) override { closed_.push_back(reason); }

  using Leases = std::vector<std::pair<LeaseId, v1::RunnerRequest>>;
  const Leases& leases() const { return leases_; }
  const Welcome& welcome() const { return welcome_; }
  const std::vector<LeaseId>& cancelled() const { return cancelled_; }
  const std::vector<LeaseId>& acknowledged() const { return acknowledged_; }
  using Messages = std::vector<std::pair<LeaseId, v1::GangMessage>>;
  const Messages& told() const { return told_; }
  const std::vector<absl::Status>& closed() const { return closed_; }

  // Answers about the newest lease.
  void Report(const std::string& key, v1::Outcome outcome = v1::MEASURED) {
    v1::ProfileResult result;
    result.set_key(key);
    result.set_outcome(outcome);
    if (outcome == v1::MEASURED) {
      result.mutable_measurement()->set_minimum_ns(1000);
      result.mutable_measurement()->mutable_memory()->set_peak_bytes(1);
    }
    Report(result);
  }
  void Report(const v1::ProfileResult& result) {
    v1::RunnerEvent event;
    *event.mutable_result() = result;
    Send(event);
  }
  void Start(const std::string& key) {
    v1::RunnerEvent event;
    event.mutable_started()->set_key(key);
    Send(event);
  }
  void Wait(const std::string& reason) {
    v1::RunnerEvent event;
    event.mutable_waiting()->set_reason(reason);
    Send(event);
  }
  void Finish(const std::string& error = "", bool final = false) {
    v1::RunnerEvent event;
    event.mutable_finished()->set_error(error);
    event.mutable_finished()->set_final(final);
    Send(event);
  }
  // Of a gang.
  void Arrive() {
    v1::RunnerEvent event;
    event.mutable_at_gate();
    Send(event);
  }
  void Put(const std::string& key, const std::string& value) {
    v1::RunnerEvent event;
    event.mutable_put()->set_key(key);
    event.mutable_put()->set_value(value);
    Send(event);
  }
  void Get(int64_t number, const std::string& key) {
    v1::RunnerEvent event;
    event.mutable_get()->set_number(number);
    event.mutable_get()->set_key(key);
    event.mutable_get()->set_waits(true);
    Send(event);
  }
  // Every program of the newest lease is measured and the lease ends.
  void RunAll() {
    const v1::RunnerRequest request = leases_.back().second;
    for (const v1::Program& program : request.programs()) Report(program.key());
    Finish();
  }
  // Its messages belong to this lease from here on.
  void Recall(LeaseId lease, const v1::RunnerRequest& request) {
    leases_.emplace_back(lease, request);
  }

 private:
  void Send(const v1::RunnerEvent& event) {
    // A copy: an answer may bring the next lease.
    const LeaseId lease = leases_.back().first;
    queue_->Update(id_, lease, event);
  }

  JobQueue* const queue_;
  WorkerDescription description_;
  WorkerId id_;
  Welcome welcome_;
  Leases leases_;
  std::vector<LeaseId> cancelled_;
  std::vector<LeaseId> acknowledged_;
  Messages told_;
  std::vector<absl::Status> closed_;
};

// Programs "p0", "p1", ... for two CPU devices.
inline JobRequest MakeJob(int count, const std::string& prefix = "p") {
  JobRequest request;
  request.request.mutable_device()->set_platform("cpu");
  request.request.mutable_device()->set_device_count(2);
  for (int i = 0; i < count; ++i) {
    request.request.add_programs()->set_key(prefix + std::to_string(i));
  }
  return request;
}

// Every event of a job that is over.
struct Story {
  std::map<std::string, v1::ProfileResult> results;
  absl::Status status;
};

inline Story ReadStory(const Submission& job) {
  Story story;
  while (true) {
    const JobEvent event = job.events->Next();
    if (const auto* done = std::get_if<JobDone>(&event)) {
      story.status = done->status;
      return story;
    }
    if (const auto* result = std::get_if<v1::ProfileResult>(&event)) {
      EXPECT_TRUE(story.results.emplace(result->key(), *result).second)
          << "two results for " << result->key();
    }
  }
}

}  // namespace meshwright::jobs

#endif  // MESHWRIGHT_COORDINATOR_JOBS_TESTING_FAKE_WORKER_H_
