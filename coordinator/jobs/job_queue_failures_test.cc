// Which failures are tried again, when and where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "coordinator/jobs/job_queue.h"
#include "coordinator/jobs/testing/fake_worker.h"
#include "coordinator/jobs/testing/queue_fixture.h"

namespace meshwright::jobs {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using FailuresTest = QueueFixture;

TEST_F(FailuresTest, AFailureIsTriedAgainLaterAndLater) {
  FakeWorker a(&queue_, "a");
  a.Attach();
  const Submission job = queue_.Submit(MakeJob(1));
  a.Start("p0");
  a.Finish("no memory for it now");
  EXPECT_THAT(a.leases(), SizeIs(1));
  Pass(options_.retry_backoff - absl::Milliseconds(1));
  EXPECT_THAT(a.leases(), SizeIs(1));
  Pass(absl::Milliseconds(1));
  ASSERT_THAT(a.leases(), SizeIs(2));
  a.Start("p0");
  a.Finish("no memory for it now");
  Pass(options_.retry_backoff);
  EXPECT_THAT(a.leases(), SizeIs(2));
  Pass(options_.retry_backoff);
  ASSERT_THAT(a.leases(), SizeIs(3));
  a.RunAll();
  EXPECT_EQ(ReadStory(job).results.at("p0").outcome(), v1::MEASURED);
}

// Its calls name programs by their place in the request.
TEST_F(FailuresTest, ASequenceRunsAgainAsAWhole) {
  FakeWorker a(&queue_, "a");
  a.Attach();
  JobRequest request = MakeJob(300);
  request.request.mutable_sequence()->add_calls()->set_program(299);
  const Submission job = queue_.Submit(request);
  ASSERT_EQ(a.leases()[0].second.programs_size(), 300);
  a.Report("p0");
  a.Lose();
  ASSERT_THAT(a.leases(), SizeIs(2));
  EXPECT_EQ(a.leases()[1].second.programs_size(), 300);
  EXPECT_EQ(a.leases()[1].second.sequence().calls(0).program(), 299);
  v1::RunnerEvent compared;
  compared.mutable_compared()->add_relative_differences(0.5);
  queue_.Update(a.id(), a.leases()[1].first, compared);
  a.RunAll();
  EXPECT_TRUE(std::holds_alternative<v1::ProfileResult>(job.events->Next()));
  const JobEvent next = job.events->Next();
  ASSERT_TRUE(std::holds_alternative<v1::RunnerEvent::Compared>(next));
  EXPECT_EQ(std::get<v1::RunnerEvent::Compared>(next).relative_differences(0),
            0.5);
  EXPECT_THAT(ReadStory(job).results, SizeIs(299));
}

TEST_F(FailuresTest, AJobThatIsCancelledIsNotTriedAgain) {
  FakeWorker a(&queue_, "a");
  a.Attach();
  const Submission job = queue_.Submit(MakeJob(1));
  a.Finish("no memory for it now");
  queue_.Cancel(job.id);
  Pass(absl::Seconds(5));
  EXPECT_THAT(a.leases(), SizeIs(1));
}

// The worker's silence is noticed at the lease's end; its program is another's
// within 20 s of its last word, as a person would want.
TEST_F(FailuresTest, AStoppedWorkersProgramsAreAnothersWithin20Seconds) {
  FakeWorker stopped(&queue_, "stopped"), other(&queue_, "other");
  stopped.Attach();
  const Submission job = queue_.Submit(MakeJob(1));
  stopped.Start("p0");
  other.Attach();
  int seconds = 0;
  while (other.leases().empty() && seconds < 100) {
    ++seconds;
    queue_.Heartbeat(other.id());
    Pass(absl::Seconds(1));
  }
  EXPECT_LE(seconds, 20);
}

TEST_F(FailuresTest, AWorkerThatLosesBatchesBeforeTheirFirstProgramIsSetAside) {
  FakeWorker bad(&queue_, "bad"), good(&queue_, "good");
  bad.Attach();
  const Submission job = queue_.Submit(MakeJob(1));
  bad.Lose();
  bad.Lose();
  EXPECT_THAT(bad.leases(), SizeIs(2));
  const v1::WorkerSummary worker = queue_.Workers()[0];
  EXPECT_EQ(worker.state(), v1::WorkerSummary::SET_ASIDE);
  EXPECT_THAT(worker.reason(), HasSubstr("lost 2 batches"));
  EXPECT_THAT(worker.reason(), HasSubstr("attached again without it"));
  const auto nobody = queue_.MatchWorker(MakeJob(1).request.device(), nullptr);
  EXPECT_EQ(nobody.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(nobody.status().message()),
              HasSubstr("worker bad is set aside: it lost 2 batches"));
  good.Attach();
  good.RunAll();
  EXPECT_EQ(ReadStory(job).results.at("p0").worker(), "good");
}

// Its runner ends because the plan does.
TEST_F(FailuresTest, AWorkerWhoseLeasesAreCancelledIsNotSetAside) {
  FakeWorker a(&queue_, "a");
  a.Attach();
  for (int i = 0; i < 3; ++i) {
    const Submission job = queue_.Submit(MakeJob(1));
    ASSERT_THAT(a.leases(), SizeIs(i + 1));
    queue_.Cancel(job.id);
    EXPECT_THAT(a.cancelled(), SizeIs(i + 1));
    a.Finish("the lease was cancelled");
    EXPECT_EQ(queue_.Workers()[0].state(), v1::WorkerSummary::IDLE);
  }
}

// XLA ends a process whose flags it does not know: no other worker would fare
// better, and this one is well.
TEST_F(FailuresTest, FlagsThatEndARunnerAreTheRequestsFault) {
  FakeWorker a(&queue_, "a");
  a.Attach();
  JobRequest flagged = MakeJob(2);
  flagged.request.mutable_options()->set_xla_flags("--xla_no_such_flag=1");
  for (int i = 0; i < 3; ++i) {
    const Submission job = queue_.Submit(flagged);
    ASSERT_THAT(a.leases(), SizeIs(i + 1));
    a.Finish("the runner, before its first program, was ended by signal 6");
    const Story story = ReadStory(job);
    ASSERT_THAT(story.results, SizeIs(2));
    EXPECT_EQ(story.results.at("p1").outcome(), v1::TRANSIENT);
    EXPECT_THAT(story.results.at("p1").reason(),
                HasSubstr("ended by signal 6; the request's xla_flags may"));
    EXPECT_EQ(queue_.Workers()[0].state(), v1::WorkerSummary::IDLE);
  }
}

TEST_F(FailuresTest, ARunnerWithFlagsThatEndsLaterIsTriedAgain) {
  FakeWorker a(&queue_, "a");
  a.Attach();
  JobRequest flagged = MakeJob(1);
  flagged.request.mutable_options()->set_xla_flags("--xla_a=1");
  const Submission job = queue_.Submit(flagged);
  a.Start("p0");
  a.Finish("no memory for it now");
  Pass(options_.retry_backoff);
  ASSERT_THAT(a.leases(), SizeIs(2));
  a.Lose();  // not by its own account
  ASSERT_THAT(a.leases(), SizeIs(3));
  a.RunAll();
  EXPECT_EQ(ReadStory(job).results.at("p0").outcome(), v1::MEASURED);
}

TEST_F(FailuresTest, AWorkerThatIsSetAsideIsProbed) {
  FakeWorker a(&queue_, "a");
  a.Attach();
  const Submission job = queue_.Submit(MakeJob(1));
  a.Lose();
  a.Lose();
  Pass(options_.standings.first_time - absl::Seconds(1));
  EXPECT_THAT(a.leases(), SizeIs(2));
  Pass(absl::Seconds(1));
  ASSERT_THAT(a.leases(), SizeIs(3));
  a.RunAll();
  EXPECT_EQ(queue_.Workers()[0].state(), v1::WorkerSummary::IDLE);
  EXPECT_THAT(queue_.Workers()[0].reason(), IsEmpty());
  EXPECT_THAT(ReadStory(job).results, SizeIs(1));
}

TEST_F(FailuresTest, AWorkerWithAFaultGivesItsLeaseBackAndGetsNone) {
  FakeWorker ill(&queue_, "ill"), other(&queue_, "other");
  const Submission job = queue_.Submit(MakeJob(1));
  for (int i = 0; i < options_.maximum_tries; ++i) {
    ill.Attach();
    ASSERT_THAT(ill.leases(), SizeIs(i + 1));
    queue_.SetFault(ill.id(), "process 7 does not die");
    ill.Finish("process 7 does not die");
    EXPECT_EQ(queue_.Workers()[0].state(), v1::WorkerSummary::UNHEALTHY);
    EXPECT_THAT(queue_.Workers()[0].reason(), HasSubstr("does not die"));
    Pass(absl::Seconds(5));
    EXPECT_THAT(ill.leases(), SizeIs(i + 1));
    ill.Leave();
  }
  other.Attach();  // it cost no try
  other.RunAll();
  EXPECT_EQ(ReadStory(job).results.at("p0").outcome(), v1::MEASURED);
}

TEST_F(FailuresTest, AWorkerThatIsWellAgainGetsLeases) {
  FakeWorker a(&queue_, "a");
  a.description().fault = "process 7 does not die";
  a.Attach();
  queue_.Submit(MakeJob(1));
  EXPECT_THAT(a.leases(), IsEmpty());
  queue_.SetFault(a.id(), "");
  EXPECT_THAT(a.leases(), SizeIs(1));
}

}  // namespace
}  // namespace meshwright::jobs
