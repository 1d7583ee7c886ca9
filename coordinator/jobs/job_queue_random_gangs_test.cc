// Ten thousand gangs over workers that are lost, hang and answer late.
//
// Concept: made-up workers act one at a time, in a random order. After every
// word of theirs the queue's state is compared with what they have said: a
// program is done exactly when every member of one unbroken gang has said its
// result. In the end every job is over and every worker is idle.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "coordinator/jobs/job_queue.h"
#include "coordinator/jobs/testing/fake_worker.h"

namespace meshwright::jobs {
namespace {

constexpr int kGangs = 10'000;
constexpr int kHosts = 2;
constexpr int kWorkersOfHost = 10;

class RandomGangs;

// What the workers know of one gang.
struct KnownGang {
  std::vector<LeaseId> leases;  // by rank
  int size = 0;
  std::set<int> at_gate;
  bool is_broken = false;  // a lease of it was cancelled, or a member lost
  std::map<std::string, std::set<int>> said;  // ranks, by program
};

class RandomWorker : public WorkerPort {
 public:
  RandomWorker(RandomGangs* world, const std::string& name,
               const std::string& host);

  void Act();  // one step of its own
  void Beat();
  void Attach();
  bool is_idle() const { return batches_.empty(); }

  void Greet(const Welcome& welcome) override {
    EXPECT_TRUE(welcome.resumed.empty()) << "a gang waited for its member";
  }
  void Push(LeaseId lease, const v1::RunnerRequest& request) override;
  void Cancel(LeaseId lease) override;
  void Acknowledge(LeaseId lease) override {}
  void Tell(LeaseId lease, const v1::GangMessage& message) override;
  void Close(const absl::Status& /*reason*/) override { Lose(); }

 private:
  struct Batch {
    LeaseId lease;
    std::vector<std::string> keys;    // not said yet
    std::shared_ptr<KnownGang> gang;  // null: alone
    int rank = 0;
    bool may_go = false;
    bool is_cancelled = false;
    int hangs_after = -1;  // steps; -1: never
  };
  void Lose();
  void Send(const Batch& batch, const v1::RunnerEvent& event);

  RandomGangs* const world_;
  WorkerDescription description_;
  std::optional<WorkerId> id_;  // while it is attached
  int away_ = 0;                // steps
  bool is_silent_ = false;
  std::deque<Batch> batches_;
};

class RandomGangs : public testing::Test {
 protected:
  friend class RandomWorker;

  bool Chance(double share) {
    return std::uniform_real_distribution<double>(0, 1)(random_) < share;
  }
  int Pick(int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random_);
  }

  void Submit();
  bool IsDone(const std::string& key) const;
  void Pass();

  static JobQueue::Options MakeOptions() {
    JobQueue::Options options;
    options.worker_grace = absl::Hours(1000);
    options.gangs.ready_time = absl::Seconds(30);
    options.gangs.silence = absl::Seconds(60);
    return options;
  }

  std::mt19937_64 random_{20};
  base::FakeClock clock_;
  JobQueue queue_{&clock_, MakeOptions()};
  std::vector<std::unique_ptr<RandomWorker>> workers_;
  std::map<JobId, Submission> open_;
  std::map<std::string, JobId> jobs_;  // by program
  std::map<std::string, int> devices_;
  std::shared_ptr<KnownGang> forming_;
  int formed_ = 0;
  int broken_ = 0;
  int measured_ = 0;
  int given_up_ = 0;
};

RandomWorker::RandomWorker(RandomGangs* world, const std::string& name,
                           const std::string& host)
    : world_(world) {
  description_.name = name;
  description_.host = host;
  description_.joins_gangs = true;
  description_.devices = {"cpu", "version 1", "fake", 1};
}

void RandomWorker::Attach() {
  // What it was given before it was lost is over; it claims it nevertheless.
  std::vector<HeldLease> held;
  for (const Batch& batch : batches_) {
    if (batch.gang != nullptr) held.push_back({batch.lease, batch.keys, false});
  }
  std::erase_if(batches_, [](const Batch& it) { return it.gang == nullptr; });
  for (Batch& batch : batches_) batch.is_cancelled = true;
  const auto id = world_->queue_.Attach(description_, this, held);
  ASSERT_TRUE(id.ok()) << id.status();
  id_ = *id;
  is_silent_ = false;
}

void RandomWorker::Lose() {
  id_.reset();
  away_ = world_->Pick(0, 200);
  for (const Batch& batch : batches_) {
    if (batch.gang != nullptr) batch.gang->is_broken = true;
  }
}

void RandomWorker::Push(LeaseId lease, const v1::RunnerRequest& request) {
  for (const Batch& batch : batches_) {
    EXPECT_TRUE(batch.is_cancelled) << "a worker has two leases at once";
  }
  Batch& batch = batches_.emplace_back();
  batch.lease = lease;
  for (const v1::Program& program : request.programs()) {
    batch.keys.push_back(program.key());
  }
  const int devices = world_->devices_.at(batch.keys.front());
  EXPECT_EQ(request.has_gang(), devices > 1);
  if (world_->Chance(0.01)) batch.hangs_after = world_->Pick(0, 4);
  if (!request.has_gang()) {
    batch.may_go = true;
    return;
  }
  EXPECT_EQ(request.gang().size(), devices);
  batch.rank = request.gang().rank();
  auto& forming = world_->forming_;
  if (batch.rank == 0) {
    EXPECT_EQ(forming, nullptr) << "a gang has too few members";
    forming = std::make_shared<KnownGang>();
    forming->size = request.gang().size();
    ++world_->formed_;
  }
  ASSERT_NE(forming, nullptr);
  EXPECT_EQ(batch.rank, std::ssize(forming->leases));
  forming->leases.push_back(lease);
  batch.gang = forming;
  if (std::ssize(forming->leases) == forming->size) forming.reset();
}

void RandomWorker::Cancel(LeaseId lease) {
  for (Batch& batch : batches_) {
    if (batch.lease != lease) continue;
    batch.is_cancelled = true;
    if (batch.gang == nullptr || batch.gang->is_broken) continue;
    batch.gang->is_broken = true;
    ++world_->broken_;
  }
}

void RandomWorker::Tell(LeaseId lease, const v1::GangMessage& message) {
  ASSERT_TRUE(message.has_go());
  for (Batch& batch : batches_) {
    if (batch.lease != lease) continue;
    EXPECT_EQ(std::ssize(batch.gang->at_gate), batch.gang->size);
    batch.may_go = true;
  }
}

void RandomWorker::Beat() {
  if (id_.has_value() && !is_silent_) world_->queue_.Heartbeat(*id_);
}

void RandomWorker::Send(const Batch& batch, const v1::RunnerEvent& event) {
  // A copy: an answer may end the batch, or bring another.
  const LeaseId lease = batch.lease;
  world_->queue_.Update(*id_, lease, event);
}

void RandomWorker::Act() {
  if (!id_.has_value()) {
    if (--away_ < 0) Attach();
    return;
  }
  if (is_silent_ || batches_.empty()) return;
  if (world_->Chance(0.002)) {
    is_silent_ = true;  // the queue ends its connection in time
    return;
  }
  if (world_->Chance(0.004)) {
    const WorkerId id = *id_;
    Lose();
    world_->queue_.Detach(id, "the connection ended");
    return;
  }
  Batch& batch = batches_.front();
  if (batch.is_cancelled && world_->Chance(0.5)) {
    batches_.pop_front();  // without a further word
    return;
  }
  if (batch.hangs_after == 0 && !batch.is_cancelled) return;
  if (batch.hangs_after > 0) --batch.hangs_after;
  v1::RunnerEvent event;
  if (world_->Chance(0.01) || (batch.may_go && batch.keys.empty())) {
    // The front goes first: this word may bring the next batch.
    if (!batch.keys.empty()) {
      event.mutable_finished()->set_error("the runner ended early");
      if (batch.gang != nullptr && !batch.is_cancelled &&
          !batch.gang->is_broken) {
        batch.gang->is_broken = true;
        ++world_->broken_;
      }
    } else {
      event.mutable_finished();
    }
    const Batch over = batch;
    batches_.pop_front();
    Send(over, event);
    return;
  }
  if (!batch.may_go) {
    if (!batch.is_cancelled) batch.gang->at_gate.insert(batch.rank);
    event.mutable_at_gate();
    Send(batch, event);
    return;
  }
  if (batch.keys.empty()) return;
  const std::string key = batch.keys.back();
  batch.keys.pop_back();
  v1::ProfileResult& result = *event.mutable_result();
  result.set_key(key);
  result.set_outcome(v1::MEASURED);
  result.mutable_measurement()->set_minimum_ns(1000);
  result.mutable_measurement()->mutable_memory()->set_peak_bytes(1);
  const std::shared_ptr<KnownGang> gang = batch.gang;
  const bool was_done = world_->IsDone(key);
  const bool counts = !batch.is_cancelled;
  const int rank = batch.rank;
  Send(batch, event);
  if (gang == nullptr) return;
  if (counts) gang->said[key].insert(rank);
  const bool is_complete = counts && std::ssize(gang->said[key]) == gang->size;
  EXPECT_EQ(world_->IsDone(key), was_done || is_complete) << key;
}

void RandomGangs::Submit() {
  const int number = static_cast<int>(jobs_.size());
  const int devices = Chance(0.8) ? Pick(2, 8) : 1;
  JobRequest request = MakeJob(Pick(1, 3), absl::StrCat("job ", number, " "));
  request.request.mutable_device()->set_device_count(devices);
  request.origin.priority = Pick(0, 2);
  request.origin.name_space = absl::StrCat(Pick(0, 2));
  for (const v1::Program& program : request.request.programs()) {
    devices_[program.key()] = devices;
  }
  const std::vector<v1::Program> programs(request.request.programs().begin(),
                                          request.request.programs().end());
  const Submission submission = queue_.Submit(std::move(request));
  open_.emplace(submission.id, submission);
  for (const v1::Program& program : programs) {
    jobs_[program.key()] = submission.id;
  }
}

bool RandomGangs::IsDone(const std::string& key) const {
  const auto details = queue_.GetJob(jobs_.at(key));
  if (!details.ok()) return true;  // it is over, and forgotten
  for (const v1::JobProgram& program : details->programs()) {
    if (program.key() == key) {
      return program.state() == v1::JobProgram::DONE;
    }
  }
  return false;
}

void RandomGangs::Pass() {
  for (const auto& worker : workers_) worker->Beat();
  clock_.Advance(absl::Seconds(1));
  queue_.Tick();
  EXPECT_EQ(forming_, nullptr) << "a gang has too few members";
  for (auto it = open_.begin(); it != open_.end();) {
    const auto details = queue_.GetJob(it->first);
    if (details.ok() && details->job().state() != v1::JobSummary::DONE) {
      ++it;
      continue;
    }
    const Story story = ReadStory(it->second);
    EXPECT_TRUE(story.status.ok()) << story.status;
    for (const auto& [key, result] : story.results) {
      ++(result.outcome() == v1::MEASURED ? measured_ : given_up_);
    }
    it = open_.erase(it);
  }
}

TEST_F(RandomGangs, NoneStuckNoneHalfRun) {
  for (int i = 0; i < kHosts * kWorkersOfHost; ++i) {
    workers_.push_back(std::make_unique<RandomWorker>(
        this, absl::StrCat("worker ", i),
        absl::StrCat("host ", i / kWorkersOfHost)));
    workers_.back()->Attach();
  }
  queue_.BeginEpoch(2);
  int64_t seconds = 0;
  while (formed_ < kGangs || !open_.empty()) {
    while (formed_ < kGangs && open_.size() < 20) Submit();
    for (int step = 0; step < 40; ++step) {
      workers_[Pick(0, std::ssize(workers_) - 1)]->Act();
    }
    Pass();
    ASSERT_LT(++seconds, 200'000) << open_.size() << " jobs are stuck";
    if (HasFailure()) break;
  }
  EXPECT_GE(formed_, kGangs);
  EXPECT_EQ(queue_.Count().programs_leased, 0);
  EXPECT_EQ(queue_.Count().programs_waiting, 0);
  // The losses are there, and most of the work is done nevertheless.
  EXPECT_GT(broken_, kGangs / 20);
  EXPECT_GT(measured_, 10 * given_up_);
  RecordProperty("gangs", formed_);
  RecordProperty("broken", broken_);
  RecordProperty("measured", measured_);
  RecordProperty("given_up", given_up_);
  RecordProperty("seconds", static_cast<int>(seconds));
}

}  // namespace
}  // namespace meshwright::jobs
