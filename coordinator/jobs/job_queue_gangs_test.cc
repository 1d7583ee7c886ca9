// Chunks that several workers run together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "coordinator/jobs/job_queue.h"
#include "coordinator/jobs/testing/fake_worker.h"
#include "coordinator/jobs/testing/queue_fixture.h"

namespace meshwright::jobs {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class GangsTest : public QueueFixture {
 protected:
  GangsTest() { queue_.BeginEpoch(2); }

  // A worker of one device that joins gangs.
  FakeWorker* Add(const std::string& name, const std::string& host = "host",
                  const gangs::LinkEnds& links = {}) {
    workers_.push_back(std::make_unique<FakeWorker>(&queue_, name, 1));
    FakeWorker* const worker = workers_.back().get();
    worker->description().joins_gangs = true;
    worker->description().host = host;
    worker->description().links = links;
    worker->Attach();
    return worker;
  }
  Submission Submit(int devices, int programs = 1,
                    const std::string& prefix = "p") {
    JobRequest request = MakeJob(programs, prefix);
    request.request.mutable_device()->set_device_count(devices);
    return queue_.Submit(request);
  }

  std::vector<std::unique_ptr<FakeWorker>> workers_;
};

TEST_F(GangsTest, RunsOnWorkersThatHaveTheDevicesTogether) {
  FakeWorker* const b = Add("b");
  FakeWorker* const a = Add("a");
  const Submission job = Submit(2, 2);
  ASSERT_THAT(a->leases(), SizeIs(1));
  ASSERT_THAT(b->leases(), SizeIs(1));
  EXPECT_EQ(a->leases()[0].second.gang().rank(), 0);  // in the order of names
  EXPECT_EQ(b->leases()[0].second.gang().rank(), 1);
  EXPECT_EQ(b->leases()[0].second.gang().size(), 2);
  EXPECT_EQ(b->leases()[0].second.programs_size(), 2);
  b->Arrive();
  EXPECT_THAT(b->told(), IsEmpty());
  a->Arrive();
  ASSERT_THAT(a->told(), SizeIs(1));
  EXPECT_EQ(a->told()[0].first, a->leases()[0].first);
  EXPECT_TRUE(a->told()[0].second.has_go());
  ASSERT_THAT(b->told(), SizeIs(1));
  a->RunAll();
  EXPECT_EQ(queue_.Count().programs_leased, 2);  // b has not said its results
  b->RunAll();
  const Story story = ReadStory(job);
  EXPECT_TRUE(story.status.ok());
  EXPECT_EQ(story.results.at("p1").worker(), "a");
  // Both are idle again.
  Submit(2, 1, "q");
  EXPECT_THAT(a->leases(), SizeIs(2));
}

TEST_F(GangsTest, WorkersWithLinksOfTheirOwnComeFirst) {
  FakeWorker* const a = Add("a");
  FakeWorker* const b = Add("b", "host", {{"0"}, {"2"}, {}});
  FakeWorker* const c = Add("c");
  FakeWorker* const d = Add("d", "host", {{"2"}, {"0"}, {}});
  Submit(2);
  EXPECT_THAT(a->leases(), IsEmpty());
  EXPECT_THAT(c->leases(), IsEmpty());
  ASSERT_THAT(b->leases(), SizeIs(1));
  ASSERT_THAT(d->leases(), SizeIs(1));
  EXPECT_EQ(b->leases()[0].second.gang().rank(), 0);
  EXPECT_EQ(d->leases()[0].second.gang().rank(), 1);
}

// Names are in the order of process ids; a mesh lies as devices do.
TEST_F(GangsTest, RanksAreInTheOrderOfPlaces) {
  FakeWorker* const c = Add("c", "host", {{"0"}, {"1"}, {}});
  FakeWorker* const a = Add("a", "host", {{"1"}, {"0"}, {}});
  FakeWorker* const d = Add("d", "host", {{"2"}, {"3"}, {}});
  FakeWorker* const b = Add("b", "host", {{"3"}, {"2"}, {}});
  Submit(4);
  int rank = 0;
  for (const FakeWorker* const worker : {c, a, d, b}) {
    ASSERT_THAT(worker->leases(), SizeIs(1));
    EXPECT_EQ(worker->leases()[0].second.gang().rank(), rank++);
  }
}

TEST_F(GangsTest, MembersTellEachOtherThroughKeys) {
  FakeWorker* const a = Add("a");
  FakeWorker* const b = Add("b");
  FakeWorker* const c = Add("c");
  FakeWorker* const d = Add("d");
  Submit(2, 1, "p");
  Submit(2, 1, "q");
  b->Get(5, "address");
  d->Get(6, "address");
  a->Put("address", "of a");
  ASSERT_THAT(b->told(), SizeIs(1));
  EXPECT_EQ(b->told()[0].second.value().number(), 5);
  EXPECT_EQ(b->told()[0].second.value().value(), "of a");
  EXPECT_THAT(d->told(), IsEmpty());  // it is of another gang
  c->Put("address", "of c");
  ASSERT_THAT(d->told(), SizeIs(1));
  EXPECT_EQ(d->told()[0].second.value().value(), "of c");
}

TEST_F(GangsTest, ALostMemberEndsTheGangOnAllAndTheProgramsAreTriedAgain) {
  FakeWorker* const a = Add("a");
  FakeWorker* const b = Add("b");
  const Submission job = Submit(2, 2);
  a->Arrive();
  b->Arrive();
  a->Report("p0");
  b->Report("p0");
  a->Report("p1");
  const LeaseId first = a->leases()[0].first;
  b->Detach("the connection ended");
  EXPECT_THAT(a->cancelled(), ElementsAre(first));
  EXPECT_THAT(a->acknowledged(), ElementsAre(first));
  EXPECT_THAT(a->leases(), SizeIs(1));  // it alone has too few devices
  b->Attach({b->Held()});
  EXPECT_THAT(b->welcome().resumed, IsEmpty());
  ASSERT_THAT(a->leases(), SizeIs(2));
  ASSERT_EQ(a->leases()[1].second.programs_size(), 1);
  EXPECT_EQ(a->leases()[1].second.programs(0).key(), "p1");
  a->Arrive();
  b->Arrive();
  a->RunAll();
  b->RunAll();
  EXPECT_EQ(ReadStory(job).results.at("p1").outcome(), v1::MEASURED);
}

TEST_F(GangsTest, AMemberThatFailsIsNamed) {
  FakeWorker* const a = Add("a");
  FakeWorker* const b = Add("b");
  const Submission job = Submit(2);
  for (int i = 0; i < options_.maximum_tries; ++i) {
    a->Arrive();
    b->Arrive();
    b->Start("p0");
    b->Finish("the runner ended early");
    Pass(absl::Seconds(10));
  }
  const Story story = ReadStory(job);
  EXPECT_EQ(story.results.at("p0").outcome(), v1::TRANSIENT);
  EXPECT_THAT(story.results.at("p0").reason(),
              HasSubstr("worker b, rank 1 of 2, the runner ended early"));
  EXPECT_THAT(a->leases(), SizeIs(options_.maximum_tries));
}

// Of the first program.
v1::ProfileResult MakeFailure(v1::Outcome outcome, const std::string& reason) {
  v1::ProfileResult failure;
  failure.set_key("p0");
  failure.set_outcome(outcome);
  failure.set_reason(reason);
  return failure;
}

TEST_F(GangsTest, AProgramThatEndsRunnersInEveryTryHasThatAsItsResult) {
  FakeWorker* const a = Add("a");
  FakeWorker* const b = Add("b");
  const Submission job = Submit(2);
  const v1::ProfileResult death = MakeFailure(v1::CRASHED, "killed by SIGABRT");
  for (int i = 0; i < options_.maximum_tries; ++i) {
    a->Arrive();
    b->Arrive();
    b->Start("p0");
    b->Report(death);
    b->Finish("the runner killed by SIGABRT");
    Pass(absl::Seconds(10));
  }
  const Story story = ReadStory(job);
  EXPECT_TRUE(story.status.ok());
  EXPECT_EQ(story.results.at("p0").outcome(), v1::CRASHED);
  EXPECT_EQ(story.results.at("p0").reason(), "on rank 1: killed by SIGABRT");
  EXPECT_THAT(a->leases(), SizeIs(options_.maximum_tries));
  // All are free again.
  Submit(2, 1, "q");
  EXPECT_THAT(a->leases(), SizeIs(options_.maximum_tries + 1));
}

// As where the driver is reset: all say it before the first one is finished.
TEST_F(GangsTest, OneDeathOfAllMembersIsNoResult) {
  FakeWorker* const a = Add("a");
  FakeWorker* const b = Add("b");
  const Submission job = Submit(2);
  const v1::ProfileResult death = MakeFailure(v1::CRASHED, "killed by SIGABRT");
  a->Arrive();
  b->Arrive();
  a->Report(death);
  b->Report(death);
  a->Finish("the runner killed by SIGABRT");
  b->Finish("the runner killed by SIGABRT");
  Pass(absl::Seconds(10));
  EXPECT_THAT(a->leases(), SizeIs(2));
}

TEST_F(GangsTest, AFailureThatTheRunnersOutliveIsTheResult) {
  FakeWorker* const a = Add("a");
  FakeWorker* const b = Add("b");
  const Submission job = Submit(2);
  const v1::ProfileResult failure =
      MakeFailure(v1::OUT_OF_MEMORY, "the compiler says so");
  a->Arrive();
  b->Arrive();
  a->Report(failure);
  b->Report(failure);
  a->Finish("");
  b->Finish("");
  const Story story = ReadStory(job);
  EXPECT_TRUE(story.status.ok());
  EXPECT_EQ(story.results.at("p0").outcome(), v1::OUT_OF_MEMORY);
  EXPECT_THAT(a->leases(), SizeIs(1));
}

TEST_F(GangsTest, AMemberThatIsNeverReadyEndsTheGang) {
  FakeWorker* const a = Add("a");
  FakeWorker* const b = Add("b");
  const Submission job = Submit(2);
  a->Arrive();
  for (absl::Duration time; time <= options_.gangs.ready_time;
       time += absl::Seconds(10)) {
    EXPECT_THAT(a->cancelled(), IsEmpty());
    queue_.Heartbeat(a->id());
    queue_.Heartbeat(b->id());
    Pass(absl::Seconds(10));
  }
  EXPECT_THAT(a->cancelled(), SizeIs(1));
  EXPECT_THAT(b->cancelled(), SizeIs(1));
  EXPECT_EQ(queue_.Count().programs_waiting, 1);
}

TEST_F(GangsTest, SmallJobsDoNotKeepAGangWaiting) {
  FakeWorker* const a = Add("a");
  FakeWorker* const b = Add("b");
  Submit(1, 1, "small");
  ASSERT_THAT(a->leases(), SizeIs(1));
  const Submission gang = Submit(2, 1, "large");
  const Submission later = Submit(1, 1, "later");
  EXPECT_THAT(b->leases(), IsEmpty());  // it is held
  a->RunAll();
  ASSERT_THAT(b->leases(), SizeIs(1));
  EXPECT_EQ(b->leases()[0].second.gang().size(), 2);
  // Nothing is held for one that is cancelled.
  queue_.Cancel(gang.id);
  EXPECT_THAT(a->cancelled(), SizeIs(1));
  a->Finish();
  EXPECT_THAT(a->leases().back().second.programs(0).key(), "later0");
}

TEST_F(GangsTest, AHoldEndsWithTheJobThatItIsFor) {
  FakeWorker* const a = Add("a");
  FakeWorker* const b = Add("b");
  Submit(1, 1, "small");
  ASSERT_THAT(a->leases(), SizeIs(1));
  const Submission gang = Submit(2, 1, "large");
  Submit(1, 1, "later");
  queue_.Cancel(gang.id);
  Pass(absl::Seconds(1));
  ASSERT_THAT(b->leases(), SizeIs(1));
  EXPECT_EQ(b->leases()[0].second.programs(0).key(), "later0");
}

TEST_F(GangsTest, WorkersOfOtherHostsAndThoseThatDoNotJoinAreNoMembers) {
  FakeWorker* const a = Add("a");
  FakeWorker* const b = Add("b", "another host");
  FakeWorker alone(&queue_, "alone", 1);
  alone.description().host = "host";
  alone.Attach();
  const Submission job = Submit(2);
  EXPECT_THAT(a->leases(), IsEmpty());
  EXPECT_THAT(b->leases(), IsEmpty());
  Submit(1, 1, "small");  // nothing is held for what cannot run
  EXPECT_THAT(a->leases(), SizeIs(1));
  Pass(absl::Seconds(1));
  for (absl::Duration time; time < options_.worker_grace;
       time += absl::Seconds(5)) {
    queue_.Heartbeat(a->id());
    queue_.Heartbeat(b->id());
    queue_.Heartbeat(alone.id());
    Pass(absl::Seconds(5));
  }
  EXPECT_EQ(ReadStory(job).status.code(), absl::StatusCode::kUnavailable);
}

TEST_F(GangsTest, AMeshOverHostsIsToldTheWayOut) {
  for (const char* const host : {"one", "two"}) {
    for (const char* const name : {"a", "b"}) {
      Add(std::string(host) + name, host);
    }
  }
  v1::DeviceSpec four = MakeJob(1).request.device();
  four.set_device_count(4);
  const absl::Status refused = queue_.MatchWorker(four, nullptr).status();
  EXPECT_TRUE(absl::IsUnavailable(refused));
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("worker onea needs 3 more like it on its host; "),
                    HasSubstr("mesh over hosts, start workers with --solo")));
}

TEST_F(GangsTest, AMeshOfOneHostIsNotSentToOthers) {
  FakeWorker* const a = Add("a");
  v1::DeviceSpec two = MakeJob(1).request.device();
  two.set_device_count(2);
  EXPECT_THAT(std::string(queue_.MatchWorker(two, nullptr).status().message()),
              AllOf(HasSubstr("worker a needs 1 more like it on its host"),
                    Not(HasSubstr("--solo"))));
  a->Detach("gone");
}

TEST_F(GangsTest, AWorkerThatHasAllDevicesRunsAlone) {
  FakeWorker* const a = Add("a");
  FakeWorker* const b = Add("b");
  FakeWorker large(&queue_, "large", 2);
  large.Attach();
  const v1::DeviceSpec two = MakeJob(1).request.device();
  const auto found = queue_.MatchWorker(two, nullptr);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->devices.device_count, 2);  // of a gang: all of it
  a->Detach("gone");
  Submit(2);
  ASSERT_THAT(large.leases(), SizeIs(1));
  EXPECT_FALSE(large.leases()[0].second.has_gang());
  EXPECT_THAT(b->leases(), IsEmpty());
}

TEST_F(GangsTest, AComparisonIsForOneWorker) {
  FakeWorker* const a = Add("a");
  Add("b");
  JobRequest request = MakeJob(1);
  request.request.mutable_reference()->set_key("reference");
  const Submission job = queue_.Submit(request);
  EXPECT_THAT(a->leases(), IsEmpty());
  const auto details = queue_.GetJob(job.id);
  ASSERT_TRUE(details.ok());
  EXPECT_THAT(details->job().reason(),
              AllOf(HasSubstr("worker a has 1 cpu devices; "),
                    HasSubstr("a comparison needs one worker that has all")));
}

TEST_F(GangsTest, AQuarantinedMemberCostsNoTry) {
  FakeWorker* const a = Add("a");
  FakeWorker* const b = Add("b");
  Submit(2);
  v1::WorkerOrder order;
  order.set_worker("b");
  order.set_kind(v1::WorkerOrder::QUARANTINE);
  ASSERT_TRUE(queue_.Order(order).ok());
  EXPECT_THAT(a->cancelled(), SizeIs(1));
  EXPECT_THAT(b->cancelled(), SizeIs(1));
  Add("c");
  ASSERT_THAT(a->leases(), SizeIs(2));
  const auto details = queue_.GetJob(JobId{1});
  ASSERT_TRUE(details.ok());
  EXPECT_THAT(details->log().rbegin()->text(), HasSubstr("try 1"));
}

TEST_F(GangsTest, ACancelledGangIsNobodysFault) {
  FakeWorker* const a = Add("a");
  FakeWorker* const b = Add("b");
  for (int i = 0; i < 3; ++i) {
    const Submission job = Submit(2);
    queue_.Cancel(job.id);
    b->Finish();
    EXPECT_EQ(queue_.Workers()[0].state(), v1::WorkerSummary::IDLE);
    EXPECT_EQ(queue_.Workers()[1].state(), v1::WorkerSummary::IDLE);
  }
  EXPECT_THAT(a->cancelled(), SizeIs(6));  // by its job, then with its gang
}

// As where its leader reads the store in vain and begins it again.
TEST_F(GangsTest, AnEpochThatHasBegunLeavesItsGangs) {
  FakeWorker* const a = Add("a");
  FakeWorker* const b = Add("b");
  const Submission job = Submit(2);
  queue_.BeginEpoch(2);
  EXPECT_THAT(a->cancelled(), IsEmpty());
  a->Arrive();
  b->Arrive();
  a->RunAll();
  b->RunAll();
  EXPECT_TRUE(ReadStory(job).status.ok());
}

// As after a backup of the store came back: its epochs are lower.
TEST_F(GangsTest, AGangOfALaterEpochIsRefusedWhole) {
  FakeWorker* const a = Add("a");
  FakeWorker* const b = Add("b");
  Submit(2);
  const LeaseId later = b->leases()[0].first;
  queue_.BeginEpoch(1);
  EXPECT_THAT(b->cancelled(), ElementsAre(later));
  EXPECT_THAT(b->acknowledged(), ElementsAre(later));
  for (absl::Duration time; time <= options_.gangs.ready_time;
       time += absl::Seconds(10)) {
    queue_.Heartbeat(a->id());
    queue_.Heartbeat(b->id());
    Pass(absl::Seconds(10));
  }
  ASSERT_GE(a->leases().size(), 2u);
  EXPECT_EQ(a->leases()[1].first.epoch, 1);
}

TEST_F(GangsTest, ADrainingMemberLeavesWhenTheGangIsOver) {
  FakeWorker* const a = Add("a");
  FakeWorker* const b = Add("b");
  Submit(2);
  queue_.Drain(b->id());
  a->Arrive();
  b->Arrive();
  b->RunAll();
  EXPECT_THAT(b->closed(), IsEmpty());
  a->RunAll();
  Pass(absl::Seconds(1));
  EXPECT_THAT(b->closed(), SizeIs(1));
}

}  // namespace
}  // namespace meshwright::jobs
