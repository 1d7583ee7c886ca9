#include "coordinator/jobs/job_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "coordinator/jobs/queue_measurer.h"
#include "coordinator/jobs/testing/fake_worker.h"

namespace meshwright::jobs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class JobQueueTest : public testing::Test {
 protected:
  static JobRequest Programs(int count, const std::string& prefix = "p") {
    return MakeJob(count, prefix);
  }
  static Story Read(const Submission& job) { return ReadStory(job); }

  base::FakeClock clock_;
  JobQueue::Options options_{.chunk_programs = 4};
  JobQueue queue_{&clock_, options_};
};

TEST_F(JobQueueTest, WorkersShareOneJobInEvenChunks) {
  FakeWorker a(&queue_, "a"), b(&queue_, "b");
  a.Attach();
  b.Attach();
  const Submission job = queue_.Submit(Programs(6));
  ASSERT_THAT(a.leases(), SizeIs(1));
  ASSERT_THAT(b.leases(), SizeIs(1));
  EXPECT_EQ(a.leases()[0].second.programs_size(), 3);
  EXPECT_EQ(b.leases()[0].second.programs_size(), 3);
  EXPECT_EQ(queue_.Jobs()[0].worker_id(), "a,b");
  a.RunAll();
  b.RunAll();
  const Story story = Read(job);
  EXPECT_TRUE(story.status.ok());
  EXPECT_THAT(story.results, SizeIs(6));
  EXPECT_EQ(queue_.Jobs()[0].state(), v1::JobSummary::DONE);
  EXPECT_EQ(queue_.Workers()[0].programs_measured(), 3);
}

TEST_F(JobQueueTest, OneWorkerTimesAllTogetherAndSeveralShare) {
  const JobQueue::Options defaults;
  for (const int workers : {1, 2}) {
    JobQueue queue(&clock_, defaults);
    std::vector<std::unique_ptr<FakeWorker>> attached;
    for (int i = 0; i < workers; ++i) {
      attached.push_back(
          std::make_unique<FakeWorker>(&queue, absl::StrCat("w", i)));
      attached.back()->Attach();
    }
    const Submission job = queue.Submit(Programs(93));
    ASSERT_THAT(attached[0]->leases(), SizeIs(1));
    EXPECT_NEAR(attached[0]->leases()[0].second.programs_size(), 93.0 / workers,
                1);
    queue.Cancel(job.id);
  }
}

TEST_F(JobQueueTest, AChunkHoldsSoManyBytes) {
  options_.chunk_bytes = 100;
  JobQueue queue(&clock_, options_);
  FakeWorker a(&queue, "a");
  a.Attach();
  JobRequest request = Programs(5);
  const std::vector<int> bytes = {60, 40, 10, 200, 90};
  for (int i = 0; i < 5; ++i) {
    request.request.mutable_programs(i)->set_hlo_module(
        std::string(bytes[i], 'x'));
  }
  const Submission job = queue.Submit(request);
  std::vector<std::vector<std::string>> leases;
  while (leases.size() < a.leases().size()) {
    leases.emplace_back();
    for (const v1::Program& program : a.leases().back().second.programs()) {
      leases.back().push_back(program.key());
    }
    a.RunAll();
  }
  EXPECT_THAT(leases, ElementsAre(ElementsAre("p0", "p1"), ElementsAre("p2"),
                                  ElementsAre("p3"), ElementsAre("p4")));
  EXPECT_THAT(Read(job).results, SizeIs(5));
}

TEST_F(JobQueueTest, AnEmptyJobIsDoneAtOnce) {
  EXPECT_TRUE(Read(queue_.Submit(Programs(0))).status.ok());
}

TEST_F(JobQueueTest, EqualKeysAreOneProgram) {
  FakeWorker a(&queue_, "a");
  a.Attach();
  JobRequest request = Programs(2);
  request.request.add_programs()->set_key("p0");
  const Submission job = queue_.Submit(request);
  EXPECT_EQ(a.leases()[0].second.programs_size(), 2);
  a.RunAll();
  EXPECT_THAT(Read(job).results, SizeIs(2));
}

TEST_F(JobQueueTest, FirstComeFirstServed) {
  const Submission first = queue_.Submit(Programs(1, "first"));
  const Submission second = queue_.Submit(Programs(1, "second"));
  FakeWorker a(&queue_, "a");
  a.Attach();
  for (int i = 0; i < 2; ++i) a.RunAll();
  std::vector<std::string> order;
  for (const auto& [lease, request] : a.leases()) {
    order.push_back(request.programs(0).key());
  }
  EXPECT_THAT(order, testing::ElementsAre("first0", "second0"));
}

TEST_F(JobQueueTest, ALostWorkersUnfinishedProgramsGoToAnother) {
  FakeWorker a(&queue_, "a"), b(&queue_, "b");
  a.Attach();
  const Submission job = queue_.Submit(Programs(4));
  a.Report("p0");
  a.Detach("the connection ended");
  b.Attach();
  EXPECT_THAT(b.leases(), SizeIs(0));  // it may come back
  clock_.Advance(options_.lease_time + absl::Seconds(1));
  queue_.Heartbeat(b.id());
  queue_.Tick();
  ASSERT_THAT(b.leases(), SizeIs(1));
  EXPECT_EQ(b.leases()[0].second.programs_size(), 3);
  b.RunAll();
  const Story story = Read(job);
  EXPECT_THAT(story.results, SizeIs(4));
  for (const auto& [key, result] : story.results) {
    EXPECT_EQ(result.outcome(), v1::MEASURED) << key;
  }
}

TEST_F(JobQueueTest, TheLastTryIsAloneAndThenNothingIsKnownOfTheProgram) {
  const Submission job = queue_.Submit(Programs(4));
  FakeWorker a(&queue_, "a");
  a.Attach();
  for (int i = 0; i < 2; ++i) {
    a.Start("p0");
    a.Lose();
  }
  // The last try: one program per lease.
  EXPECT_THAT(a.leases().back().second.programs(), SizeIs(1));
  EXPECT_EQ(a.leases().back().second.programs(0).key(), "p0");
  a.Start("p0");
  a.Lose();
  for (int i = 0; i < 3; ++i) a.RunAll();
  const Story story = Read(job);
  EXPECT_TRUE(story.status.ok());
  ASSERT_THAT(story.results, SizeIs(4));
  const v1::ProfileResult& lost = story.results.at("p0");
  EXPECT_EQ(lost.outcome(), v1::TRANSIENT);
  EXPECT_THAT(lost.reason(), HasSubstr("worker a was lost"));
  EXPECT_THAT(lost.reason(), HasSubstr("3 tries"));
  EXPECT_EQ(story.results.at("p3").outcome(), v1::MEASURED);
}

TEST_F(JobQueueTest, AWorkersOwnFailureIsNamedInTheRow) {
  FakeWorker a(&queue_, "a");
  a.Attach();
  const Submission job = queue_.Submit(Programs(1));
  for (int i = 0; i < 3; ++i) {
    ASSERT_THAT(a.leases(), SizeIs(i + 1));
    a.Finish("no space left in /tmp");
    clock_.Advance(absl::Seconds(10));
    queue_.Tick();
  }
  const Story story = Read(job);
  EXPECT_THAT(story.results.at("p0").reason(),
              HasSubstr("no space left in /tmp"));
}

TEST_F(JobQueueTest, AFinalFailureIsNotTriedAgain) {
  FakeWorker a(&queue_, "a");
  a.Attach();
  const Submission job = queue_.Submit(Programs(2));
  a.Finish("the reference run failed", /*final=*/true);
  const Story story = Read(job);
  ASSERT_THAT(story.results, SizeIs(2));
  EXPECT_EQ(story.results.at("p0").reason(),
            "worker a: the reference run failed");
}

TEST_F(JobQueueTest, FiguresThatNoDeviceMeasuresAreNoRow) {
  FakeWorker a(&queue_, "forger");
  a.Attach();
  const Submission job = queue_.Submit(Programs(2));
  v1::ProfileResult forged;
  forged.set_key("p0");
  forged.set_outcome(v1::MEASURED);
  forged.mutable_measurement()->set_minimum_ns(-5);
  forged.mutable_measurement()->mutable_memory()->set_peak_bytes(1);
  a.Report(forged);
  a.Report("p1");
  const Story story = Read(job);
  EXPECT_TRUE(story.status.ok());
  const v1::ProfileResult& refused = story.results.at("p0");
  EXPECT_EQ(refused.outcome(), v1::TRANSIENT);
  EXPECT_EQ(refused.reason(),
            "worker forger sent a result that no device measures: its minimum "
            "is -5 ns");
  EXPECT_FALSE(refused.has_measurement());
  EXPECT_EQ(story.results.at("p1").outcome(), v1::MEASURED);
  EXPECT_EQ(queue_.Workers()[0].programs_measured(), 1);
}

TEST_F(JobQueueTest, AComparisonIsNotSplit) {
  FakeWorker a(&queue_, "a"), b(&queue_, "b");
  a.Attach();
  b.Attach();
  JobRequest request = Programs(10);
  request.request.mutable_reference()->set_key("reference");
  const Submission job = queue_.Submit(request);
  EXPECT_THAT(b.leases(), SizeIs(0));
  ASSERT_THAT(a.leases(), SizeIs(1));
  EXPECT_EQ(a.leases()[0].second.programs_size(), 10);
  EXPECT_EQ(a.leases()[0].second.reference().key(), "reference");
}

TEST_F(JobQueueTest, ASilentWorkerIsLost) {
  FakeWorker a(&queue_, "a"), b(&queue_, "b");
  a.Attach();
  const Submission job = queue_.Submit(Programs(1));
  clock_.Advance(absl::Seconds(14));
  queue_.Heartbeat(a.id());
  clock_.Advance(absl::Seconds(14));
  queue_.Tick();
  EXPECT_THAT(queue_.Workers(), SizeIs(1));
  clock_.Advance(absl::Seconds(2));
  queue_.Tick();
  EXPECT_THAT(queue_.Workers(), SizeIs(0));
  EXPECT_THAT(a.closed(), SizeIs(1));
  a.Report("p0");  // too late: the lease is no longer its own
  b.Attach();
  b.RunAll();
  EXPECT_THAT(Read(job).results, SizeIs(1));
}

TEST_F(JobQueueTest, NoFittingWorkerEndsTheJobAfterTheGrace) {
  FakeWorker a(&queue_, "a", 2);
  a.Attach();
  JobRequest request = Programs(1);
  request.request.mutable_device()->set_device_count(8);
  const Submission job = queue_.Submit(request);
  queue_.Tick();
  clock_.Advance(absl::Seconds(14));
  queue_.Heartbeat(a.id());
  queue_.Tick();
  EXPECT_EQ(queue_.Jobs()[0].state(), v1::JobSummary::QUEUED);
  clock_.Advance(absl::Seconds(1));
  queue_.Tick();
  const absl::Status status = Read(job).status;
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("8 cpu devices"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("worker a has 2"));
}

TEST_F(JobQueueTest, ADrainingWorkerEndsItsLeaseAndIsClosed) {
  FakeWorker a(&queue_, "a");
  a.Attach();
  const Submission job = queue_.Submit(Programs(8));
  queue_.Drain(a.id());
  EXPECT_EQ(queue_.Workers()[0].state(), v1::WorkerSummary::DRAINING);
  a.RunAll();
  ASSERT_THAT(a.closed(), SizeIs(1));
  EXPECT_TRUE(a.closed()[0].ok());
  EXPECT_THAT(a.leases(), SizeIs(1));
  EXPECT_THAT(queue_.Workers(), SizeIs(0));
  FakeWorker b(&queue_, "b");
  b.Attach();
  b.RunAll();
  EXPECT_THAT(Read(job).results, SizeIs(8));
}

TEST_F(JobQueueTest, AWorkerThatComesBackReplacesItself) {
  FakeWorker old(&queue_, "a"), second(&queue_, "a");
  old.Attach();
  const Submission job = queue_.Submit(Programs(1));
  second.Attach();
  EXPECT_THAT(old.closed(), SizeIs(1));
  old.Report("p0");  // no longer heard
  old.Detach("late");
  ASSERT_THAT(second.leases(), SizeIs(1));
  second.RunAll();
  EXPECT_THAT(Read(job).results, SizeIs(1));
}

TEST_F(JobQueueTest, ShutdownEndsEveryJob) {
  FakeWorker a(&queue_, "a");
  a.Attach();
  const Submission running = queue_.Submit(Programs(1));
  const Submission waiting = queue_.Submit(Programs(1, "q"));
  queue_.Shutdown();
  EXPECT_EQ(Read(running).status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Read(waiting).status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Read(queue_.Submit(Programs(1))).status.code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(JobQueueTest, AMeasurerHoldsToTheVersionItDescribed) {
  FakeWorker a(&queue_, "a"), b(&queue_, "b");
  b.description().devices.platform_version = "version 2";
  a.Attach();
  std::stop_source stop;
  QueueMeasurer measurer(&queue_, stop.get_token());
  const JobRequest request = Programs(8);
  EXPECT_EQ(measurer.Describe(request.request.device())->platform_version,
            "version 1");
  b.Attach();
  absl::Status status;
  std::thread measuring([&] {
    status = measurer.Measure(request.request, nullptr,
                              [&](const auto&) { stop.request_stop(); });
  });
  while (queue_.Jobs().empty()) std::this_thread::yield();
  EXPECT_THAT(b.leases(), SizeIs(0));
  v1::RunnerEvent started;
  started.mutable_started()->set_key("p0");
  const LeaseId lease = a.leases()[0].first;
  queue_.Update(a.id(), lease, started);  // whose callback stops it all
  measuring.join();
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(a.cancelled(), testing::ElementsAre(lease));
}

TEST_F(JobQueueTest, AMeasurerForGivenDevicesTakesNoOthers) {
  FakeWorker a(&queue_, "a"), b(&queue_, "b");
  b.description().devices.platform_version = "version 2";
  a.Attach();
  QueueMeasurer measurer(&queue_, {}, b.description().devices);
  const v1::DeviceSpec device = Programs(1).request.device();
  EXPECT_EQ(measurer.Describe(device).status().code(),
            absl::StatusCode::kUnavailable);
  b.Attach();
  EXPECT_EQ(measurer.Describe(device)->platform_version, "version 2");
}

TEST_F(JobQueueTest, WhoCannotKeepAResultEndsTheMeasuring) {
  FakeWorker a(&queue_, "a");
  a.Attach();
  QueueMeasurer measurer(&queue_, {});
  absl::Status status;
  int taken = 0;
  std::thread measuring([&] {
    status = measurer.Measure(
        Programs(3).request,
        [&](const auto&) {
          ++taken;
          return absl::ResourceExhaustedError("full");
        },
        nullptr);
  });
  while (queue_.Jobs().empty()) std::this_thread::yield();
  a.RunAll();
  measuring.join();
  EXPECT_EQ(status.message(), "full");
  EXPECT_EQ(taken, 1);
  EXPECT_EQ(queue_.Jobs()[0].state(), v1::JobSummary::DONE);
}

TEST_F(JobQueueTest, ResultsThatAreThereTogetherComeTogether) {
  FakeWorker a(&queue_, "a");
  a.Attach();
  QueueMeasurer measurer(&queue_, {});
  std::atomic<bool> has_started = false;
  std::atomic<bool> are_there = false;
  std::vector<size_t> taken;
  absl::Status status;
  std::thread measuring([&] {
    status = measurer.MeasureTogether(
        Programs(3).request,
        [&](absl::Span<const v1::ProfileResult> results) {
          taken.push_back(results.size());
          return absl::OkStatus();
        },
        [&](const auto&) {
          has_started = true;
          while (!are_there) std::this_thread::yield();
        });
  });
  while (queue_.Jobs().empty()) std::this_thread::yield();
  a.Start("p0");
  while (!has_started) std::this_thread::yield();
  a.RunAll();
  are_there = true;
  measuring.join();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(taken, ElementsAre(3));
}

TEST_F(JobQueueTest, WhereNoneFitsFiveAreNamed) {
  std::vector<std::unique_ptr<FakeWorker>> attached;
  for (int i = 0; i < 8; ++i) {
    attached.push_back(
        std::make_unique<FakeWorker>(&queue_, absl::StrCat("w", i)));
    attached.back()->Attach();
  }
  v1::DeviceSpec device;
  device.set_device_count(8);
  const std::string message(
      queue_.MatchWorker(device, nullptr).status().message());
  EXPECT_THAT(message, HasSubstr("worker w4 has 2 cpu devices; and 3 more"));
  EXPECT_THAT(message, testing::Not(HasSubstr("w5")));
}

TEST_F(JobQueueTest, CountsWhatWaitsAndWhatIsLeased) {
  const Submission job = queue_.Submit(Programs(6));
  EXPECT_EQ(queue_.Count().programs_waiting, 6);
  EXPECT_EQ(queue_.Count().programs_leased, 0);
  FakeWorker a(&queue_, "a");
  a.Attach();
  EXPECT_EQ(queue_.Count().programs_waiting, 3);
  EXPECT_EQ(queue_.Count().programs_leased, 3);
  a.Report("p0");
  EXPECT_EQ(queue_.Count().programs_leased, 2);
  queue_.Cancel(job.id);
  EXPECT_EQ(queue_.Count().programs_waiting, 0);
}

class RecordingObserver : public QueueObserver {
 public:
  void AddResult(const v1::ProfileResult& result) override {
    results_.push_back(result);
  }
  const std::vector<v1::ProfileResult>& results() const { return results_; }

 private:
  std::vector<v1::ProfileResult> results_;
};

TEST_F(JobQueueTest, AnObserverSeesEveryResultOnce) {
  RecordingObserver observer;
  JobQueue queue(&clock_, {.maximum_tries = 1, .observer = &observer});
  FakeWorker a(&queue, "a");
  a.Attach();
  const Submission job = queue.Submit(Programs(3));
  a.Report("p0");
  a.Report("p0");
  a.Report("p1", v1::CRASHED);
  a.Detach("gone");
  clock_.Advance(absl::Minutes(1));  // its lease ends
  queue.Tick();
  Read(job);
  ASSERT_THAT(observer.results(), SizeIs(3));
  EXPECT_EQ(observer.results()[0].outcome(), v1::MEASURED);
  EXPECT_EQ(observer.results()[1].outcome(), v1::CRASHED);
  EXPECT_EQ(observer.results()[2].outcome(), v1::TRANSIENT);
}

TEST_F(JobQueueTest, DescribeSaysWhatIsMissing) {
  const JobQueue::Options impatient{.worker_grace = absl::ZeroDuration()};
  JobQueue queue(&clock_, impatient);
  QueueMeasurer measurer(&queue, {});
  EXPECT_THAT(std::string(measurer.Describe({}).status().message()),
              HasSubstr("no worker is attached"));
  FakeWorker a(&queue, "a");
  a.Attach();
  v1::DeviceSpec device;
  device.set_platform("cuda");
  device.set_device_count(1);
  EXPECT_THAT(std::string(measurer.Describe(device).status().message()),
              HasSubstr("worker a has cpu devices"));
}

}  // namespace
}  // namespace meshwright::jobs
