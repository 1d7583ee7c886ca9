// Leases across lost connections and restarts of the coordinator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "coordinator/jobs/job_queue.h"
#include "coordinator/jobs/testing/fake_worker.h"
#include "coordinator/jobs/testing/queue_fixture.h"

namespace meshwright::jobs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class LeasesTest : public QueueFixture {
 protected:
  LeasesTest() { queue_.BeginEpoch(7); }
};

TEST_F(LeasesTest, AWorkerGoesOnWithItsLeaseWhenItIsBack) {
  FakeWorker a(&queue_, "a"), b(&queue_, "b");
  a.Attach();
  EXPECT_EQ(a.welcome().epoch, 7);
  EXPECT_EQ(a.welcome().lease_time, options_.lease_time);
  const Submission job = queue_.Submit(MakeJob(3));
  EXPECT_EQ(a.leases()[0].first, (LeaseId{7, 1}));
  a.Report("p0");
  a.Detach("the connection ended");
  EXPECT_EQ(queue_.Workers()[0].state(), v1::WorkerSummary::AWAY);
  b.Attach();
  Pass(absl::Seconds(10));
  EXPECT_THAT(b.leases(), IsEmpty());
  a.Attach({a.Held()});
  EXPECT_THAT(a.welcome().resumed, ElementsAre(LeaseId{7, 1}));
  EXPECT_EQ(queue_.Workers()[1].state(), v1::WorkerSummary::BUSY);
  a.RunAll();  // tells p0 once more
  EXPECT_THAT(a.leases(), SizeIs(1));
  EXPECT_THAT(b.leases(), IsEmpty());
  const Story story = ReadStory(job);
  EXPECT_TRUE(story.status.ok());
  EXPECT_THAT(story.results, SizeIs(3));
}

TEST_F(LeasesTest, ReleasedWorkersKeepWhatTheyHave) {
  FakeWorker a(&queue_, "a"), b(&queue_, "b");
  a.Attach();
  b.Attach();
  const Submission job = queue_.Submit(MakeJob(1));
  a.Detach("the connection ended");
  queue_.ReleaseWorkers(absl::UnavailableError("another one leads"));
  EXPECT_THAT(queue_.Workers(), IsEmpty());
  EXPECT_THAT(b.closed(),
              ElementsAre(absl::UnavailableError("another one leads")));
  queue_.Cancel(job.id);
  EXPECT_THAT(a.cancelled(), IsEmpty());
  EXPECT_THAT(b.cancelled(), IsEmpty());
}

TEST_F(LeasesTest, WhatItFinishedMeanwhileIsHandedIn) {
  FakeWorker a(&queue_, "a");
  a.Attach();
  const Submission job = queue_.Submit(MakeJob(1));
  const Submission next = queue_.Submit(MakeJob(1, "q"));
  const HeldLease held = a.Held(/*is_over=*/true);
  const v1::RunnerRequest request = a.leases()[0].second;
  a.Detach("the connection ended");
  a.Attach({held});
  // Nothing of it runs, so the worker has the next one already.
  EXPECT_EQ(a.leases().back().second.programs(0).key(), "q0");
  a.Recall(held.id, request);
  a.RunAll();
  EXPECT_EQ(ReadStory(job).results.at("p0").outcome(), v1::MEASURED);
}

TEST_F(LeasesTest, AConnectedWorkerIsReplacedByItselfAlone) {
  FakeWorker first(&queue_, "a"), second(&queue_, "a");
  for (FakeWorker* worker : {&first, &second}) {
    worker->description().owner = "token:fleet";
    worker->description().session = worker == &first ? "1" : "2";
    worker->description().host = worker == &first ? "node1" : "node2";
  }
  first.Attach();
  const Submission job = queue_.Submit(MakeJob(1));
  const auto refused = queue_.Attach(second.description(), &second);
  EXPECT_TRUE(absl::IsAlreadyExists(refused.status())) << refused.status();
  EXPECT_THAT(
      std::string(refused.status().message()),
      HasSubstr("another worker of node1 is attached under the name a"));
  first.Attach({first.Held()});  // the connection was cut without a word
  EXPECT_THAT(first.closed(), SizeIs(1));
  first.Detach("the connection ended");
  second.Attach();  // its process was started again elsewhere
  EXPECT_THAT(second.leases(), SizeIs(1));
  first.description().owner = "token:other";
  EXPECT_TRUE(absl::IsAlreadyExists(
      queue_.Attach(first.description(), &first).status()));
}

TEST_F(LeasesTest, AWorkerThatDrainsHandsInAndGetsNothingNew) {
  FakeWorker a(&queue_, "a");
  a.Attach();
  const Submission job = queue_.Submit(MakeJob(2));
  const Submission next = queue_.Submit(MakeJob(1, "q"));
  a.Detach("the connection ended");
  a.description().is_draining = true;
  a.Attach({a.Held(/*is_over=*/true)});
  EXPECT_THAT(a.closed(), IsEmpty());
  EXPECT_EQ(queue_.Workers()[0].state(), v1::WorkerSummary::DRAINING);
  a.RunAll();
  EXPECT_THAT(a.leases(), SizeIs(1));
  EXPECT_THAT(a.closed(), ElementsAre(absl::OkStatus()));
  EXPECT_THAT(ReadStory(job).results, SizeIs(2));
  a.Attach();  // with nothing
  EXPECT_THAT(a.closed(), SizeIs(2));
  EXPECT_THAT(queue_.Workers(), IsEmpty());
}

TEST_F(LeasesTest, LateWritersAreFenced) {
  FakeWorker a(&queue_, "a"), b(&queue_, "b");
  a.Attach();
  const Submission job = queue_.Submit(MakeJob(2));
  const HeldLease held = a.Held();
  a.Detach("the connection ended");
  Pass(options_.lease_time + absl::Seconds(1));
  b.Attach();
  ASSERT_THAT(b.leases(), SizeIs(1));
  a.Attach({held});
  EXPECT_THAT(a.welcome().resumed, IsEmpty());
  a.Report("p0", v1::CRASHED);
  a.Finish("it is too late", /*final=*/true);
  EXPECT_EQ(queue_.Jobs()[0].finished(), 0);
  b.RunAll();
  for (const auto& [key, result] : ReadStory(job).results) {
    EXPECT_EQ(result.outcome(), v1::MEASURED) << key;
    EXPECT_EQ(result.worker(), "b") << key;
  }
}

TEST_F(LeasesTest, NobodySpeaksOfAnothersLease) {
  FakeWorker a(&queue_, "a"), b(&queue_, "b");
  a.Attach();
  const Submission job = queue_.Submit(MakeJob(1));
  const HeldLease held = a.Held();
  b.Attach({held});
  EXPECT_THAT(b.welcome().resumed, IsEmpty());
  b.Recall(held.id, a.leases()[0].second);
  b.RunAll();
  EXPECT_EQ(queue_.Jobs()[0].finished(), 0);
  a.RunAll();
  EXPECT_EQ(ReadStory(job).results.at("p0").worker(), "a");
}

TEST_F(LeasesTest, AWorkerThatStopsGivesItsLeaseBackAtOnce) {
  FakeWorker a(&queue_, "a"), b(&queue_, "b");
  a.Attach();
  const Submission job = queue_.Submit(MakeJob(1));
  for (int i = 0; i < options_.maximum_tries; ++i) {
    a.Leave();
    EXPECT_THAT(queue_.Workers(), IsEmpty());
    a.Attach();
  }
  a.Leave();
  b.Attach();
  b.RunAll();  // it cost no try
  EXPECT_EQ(ReadStory(job).results.at("p0").outcome(), v1::MEASURED);
  EXPECT_TRUE(a.closed()[0].ok());
}

TEST_F(LeasesTest, ALeaseIsAcknowledgedWhenItsResultsAreTaken) {
  FakeWorker a(&queue_, "a");
  a.Attach();
  {
    const Submission job = queue_.Submit(MakeJob(2));
    a.RunAll();
    queue_.Tick();
    EXPECT_THAT(a.acknowledged(), IsEmpty());
    ReadStory(job);
  }
  // Its worker is back meanwhile.
  a.Detach("the connection ended");
  a.Attach({a.Held(/*is_over=*/true)});
  EXPECT_THAT(a.welcome().resumed, SizeIs(1));
  queue_.Tick();
  EXPECT_THAT(a.acknowledged(), ElementsAre(LeaseId{7, 1}));
  a.Attach({a.Held(/*is_over=*/true)});
  EXPECT_THAT(a.welcome().resumed, IsEmpty());
}

TEST_F(LeasesTest, ACoordinatorThatStopsLeavesLeasesToTheNext) {
  FakeWorker a(&queue_, "a"), b(&queue_, "b");
  a.Attach();
  const Submission job = queue_.Submit(MakeJob(1));
  queue_.HandOver();
  queue_.Cancel(job.id);
  EXPECT_THAT(a.cancelled(), IsEmpty());
  queue_.Submit(MakeJob(1, "q"));
  b.Attach();
  EXPECT_THAT(b.leases(), IsEmpty());
}

// A worker that was given programs by the coordinator before this one.
class EarlierLease {
 public:
  explicit EarlierLease(base::FakeClock* clock, int programs,
                        const std::string& name = "a")
      : earlier_(clock, {}), worker_(&earlier_, name) {
    earlier_.BeginEpoch(6);
    worker_.Attach();
    job_ = earlier_.Submit(MakeJob(programs));
  }
  HeldLease Held(bool is_over = false) const { return worker_.Held(is_over); }
  const v1::RunnerRequest& request() const {
    return worker_.leases()[0].second;
  }

 private:
  JobQueue earlier_;
  FakeWorker worker_;
  Submission job_;
};

class RestartTest : public LeasesTest {
 protected:
  static JobRequest TakenOver(int programs) {
    JobRequest request = MakeJob(programs);
    request.origin.was_taken_over = true;
    return request;
  }
  static JobRequest Interrupted(int programs) {
    JobRequest request = MakeJob(programs);
    request.origin.was_taken_over = true;
    request.origin.was_interrupted = true;
    return request;
  }

  const EarlierLease earlier_{&clock_, 3};
};

TEST_F(RestartTest, AJobWaitsForTheWorkerThatHasItsPrograms) {
  FakeWorker a(&queue_, "a"), b(&queue_, "b");
  b.Attach();
  const Submission job = queue_.Submit(Interrupted(4));
  Pass(absl::Seconds(6));
  queue_.Heartbeat(b.id());
  EXPECT_THAT(b.leases(), IsEmpty());
  a.Attach({earlier_.Held()});
  EXPECT_THAT(a.welcome().resumed, ElementsAre(earlier_.Held().id));
  Pass(absl::Seconds(2));
  // Only what is nobody's.
  ASSERT_THAT(b.leases(), SizeIs(1));
  ASSERT_EQ(b.leases()[0].second.programs_size(), 1);
  EXPECT_EQ(b.leases()[0].second.programs(0).key(), "p3");
  EXPECT_THAT(a.leases(), IsEmpty());
  EXPECT_EQ(queue_.Jobs()[0].worker_id(), "a,b");
  a.Recall(earlier_.Held().id, earlier_.request());
  a.RunAll();
  b.RunAll();
  const Story story = ReadStory(job);
  EXPECT_TRUE(story.status.ok());
  ASSERT_THAT(story.results, SizeIs(4));
  EXPECT_EQ(story.results.at("p0").worker(), "a");
}

TEST_F(RestartTest, OnlyInterruptedJobsWait) {
  FakeWorker b(&queue_, "b");
  b.Attach();
  queue_.Submit(MakeJob(1));
  EXPECT_THAT(b.leases(), SizeIs(1));
}

TEST_F(RestartTest, AJobThatIsLaterThanTheWorkerFindsItsResults) {
  FakeWorker a(&queue_, "a");
  a.Attach({earlier_.Held()});
  a.Recall(earlier_.Held().id, earlier_.request());
  a.Report("p0");
  a.Report("p1");
  const Submission job = queue_.Submit(Interrupted(3));
  EXPECT_EQ(queue_.Jobs()[0].finished(), 2);
  EXPECT_THAT(a.leases(), SizeIs(1));  // nothing new
  a.Report("p2");
  a.Finish();
  EXPECT_THAT(ReadStory(job).results, SizeIs(3));
}

TEST_F(RestartTest, ResultsOfALeaseThatIsOverAreUsedToo) {
  FakeWorker a(&queue_, "a");
  a.Attach({earlier_.Held(/*is_over=*/true)});
  a.Recall(earlier_.Held().id, earlier_.request());
  a.Report("p0");
  a.Finish("its lease ended");
  EXPECT_EQ(queue_.Workers()[0].state(), v1::WorkerSummary::IDLE);
  queue_.Tick();
  EXPECT_THAT(a.acknowledged(), IsEmpty());
  {
    const Submission job = queue_.Submit(TakenOver(3));
    ASSERT_THAT(a.leases(), SizeIs(2));
    EXPECT_EQ(a.leases()[1].second.programs_size(), 2);
    a.RunAll();
    EXPECT_THAT(ReadStory(job).results, SizeIs(3));
  }
  queue_.Tick();
  EXPECT_THAT(a.acknowledged(), SizeIs(2));
}

TEST_F(RestartTest, WhatItsWorkerIsLostWithIsLeasedAgain) {
  FakeWorker a(&queue_, "a"), b(&queue_, "b");
  a.Attach({earlier_.Held()});
  a.Recall(earlier_.Held().id, earlier_.request());
  a.Report("p0");
  a.Detach("the connection ended");
  Pass(options_.lease_time + absl::Seconds(1));
  const Submission job = queue_.Submit(TakenOver(3));
  b.Attach();
  ASSERT_THAT(b.leases(), SizeIs(1));
  EXPECT_EQ(b.leases()[0].second.programs_size(), 2);
  b.RunAll();
  EXPECT_EQ(ReadStory(job).results.at("p0").worker(), "a");
}

TEST_F(RestartTest, ForgedResultsAreTurnedAwayWhenTheyAreUsed) {
  FakeWorker a(&queue_, "a");
  a.Attach({earlier_.Held()});
  a.Recall(earlier_.Held().id, earlier_.request());
  v1::ProfileResult forged;
  forged.set_key("p0");
  forged.set_outcome(v1::MEASURED);
  forged.mutable_measurement()->set_minimum_ns(-5);
  a.Report(forged);
  a.Report("p1");
  a.Report("p2");
  a.Finish();
  const Story story = ReadStory(queue_.Submit(TakenOver(3)));
  EXPECT_EQ(story.results.at("p0").outcome(), v1::TRANSIENT);
  EXPECT_THAT(story.results.at("p0").reason(), HasSubstr("no device measures"));
}

// No worker can have been given its programs before the restart.
TEST_F(RestartTest, ANewPlanGetsNothingThatWasHandedIn) {
  FakeWorker a(&queue_, "a");
  a.Attach({earlier_.Held()});
  a.Recall(earlier_.Held().id, earlier_.request());
  a.RunAll();
  const Submission job = queue_.Submit(MakeJob(3));
  EXPECT_EQ(queue_.Jobs()[0].finished(), 0);
  EXPECT_EQ(a.leases().back().first, (LeaseId{7, 1}));
  EXPECT_EQ(a.leases().back().second.programs_size(), 3);
}

TEST_F(RestartTest, AResultThatItsLeaseDoesNotListIsRefused) {
  FakeWorker a(&queue_, "a"), b(&queue_, "b");
  HeldLease without_p2 = earlier_.Held();
  without_p2.keys.pop_back();
  a.Attach({without_p2});
  a.Recall(earlier_.Held().id, earlier_.request());
  a.Report("p2");  // before a plan asks for it, and after
  b.Attach();
  const Submission job = queue_.Submit(TakenOver(3));
  a.RunAll();
  EXPECT_EQ(queue_.Jobs()[0].finished(), 2);
  ASSERT_THAT(b.leases(), SizeIs(1));
  b.RunAll();
  EXPECT_EQ(ReadStory(job).results.at("p2").worker(), "b");
}

TEST(EpochTest, ALeaseThatIsClaimedBeforeItsEpochBeginsIsRefused) {
  base::FakeClock clock;
  JobQueue queue(&clock, {});
  FakeWorker a(&queue, "a");
  const HeldLease before{{6, 1}, {"p0"}, false}, claimed{{7, 1}, {"q0"}, true};
  a.Attach({before, claimed});
  EXPECT_THAT(a.welcome().resumed, SizeIs(2));
  queue.BeginEpoch(7);
  EXPECT_THAT(a.cancelled(), ElementsAre(LeaseId{7, 1}));
  EXPECT_THAT(a.acknowledged(), ElementsAre(LeaseId{7, 1}));
  EXPECT_EQ(queue.Workers()[0].state(),
            v1::WorkerSummary::BUSY);  // with the other
  JobRequest request = MakeJob(1, "q");
  request.origin.was_taken_over = true;
  const Submission job = queue.Submit(request);
  a.Recall(claimed.id, request.request);
  a.RunAll();
  EXPECT_EQ(queue.Jobs()[0].finished(), 0);
}

TEST_F(RestartTest, WhatNobodyAsksForIsAcknowledgedInTheEnd) {
  FakeWorker a(&queue_, "a");
  a.Attach({earlier_.Held()});
  a.Recall(earlier_.Held().id, earlier_.request());
  a.RunAll();
  for (int i = 0; i < 60; ++i) {
    queue_.Heartbeat(a.id());
    Pass(options_.handed_in_time / 60);
  }
  EXPECT_THAT(a.acknowledged(), ElementsAre(earlier_.Held().id));
}

TEST_F(RestartTest, NobodyHandsInLongAfterTheRestart) {
  Pass(options_.handed_in_time);
  FakeWorker a(&queue_, "a");
  a.Attach({earlier_.Held()});
  EXPECT_THAT(a.welcome().resumed, IsEmpty());
}

TEST_F(RestartTest, ALeaseOfALaterEpochIsNotThisCoordinators) {
  HeldLease held = earlier_.Held();
  held.id.epoch = 8;
  FakeWorker a(&queue_, "a");
  a.Attach({held});
  EXPECT_THAT(a.welcome().resumed, IsEmpty());
}

}  // namespace
}  // namespace meshwright::jobs
