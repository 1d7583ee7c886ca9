// Reports to administrators, and their orders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "coordinator/jobs/job_queue.h"
#include "coordinator/jobs/testing/fake_worker.h"

namespace meshwright::jobs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class AdminTest : public testing::Test {
 protected:
  static JobRequest Asked(int programs) {
    JobRequest job = MakeJob(programs);
    job.origin.owner = "ann";
    job.origin.model = "llama";
    job.origin.plan = "plan-7";
    job.origin.name_space = "vision";
    job.request.mutable_programs(0)->set_label("segment 1 rows");
    return job;
  }
  absl::StatusOr<v1::WorkerSummary> Order(const std::string& worker,
                                          v1::WorkerOrder::Kind kind,
                                          const std::string& reason) {
    return queue_.Order(MakeOrder(worker, kind, reason));
  }
  static v1::WorkerOrder MakeOrder(const std::string& worker,
                                   v1::WorkerOrder::Kind kind,
                                   const std::string& reason) {
    v1::WorkerOrder order;
    order.set_worker(worker);
    order.set_kind(kind);
    order.set_reason(reason);
    return order;
  }
  std::string ReadReason(const Submission& job) {
    const auto details = queue_.GetJob(job.id);
    EXPECT_TRUE(details.ok()) << details.status();
    return details.ok() ? details->job().reason() : "";
  }

  base::FakeClock clock_;
  JobQueue queue_{&clock_, {}};
};

TEST_F(AdminTest, AJobSaysWhoseItIsAndWhyItWaits) {
  const Submission job = queue_.Submit(Asked(2));
  const v1::JobSummary summary = queue_.Jobs()[0];
  EXPECT_EQ(summary.id(), "job-1");
  EXPECT_EQ(summary.owner(), "ann");
  EXPECT_EQ(summary.model(), "llama");
  EXPECT_EQ(summary.plan(), "plan-7");
  EXPECT_EQ(summary.namespace_(), "vision");
  EXPECT_THAT(summary.reason(), HasSubstr("no worker is attached"));
  FakeWorker a(&queue_, "a");
  a.Attach();
  EXPECT_THAT(ReadReason(job), IsEmpty());  // it runs
  EXPECT_EQ(queue_.Workers()[0].job_id(), "job-1");
  const Submission next = queue_.Submit(Asked(1));
  EXPECT_THAT(ReadReason(next), HasSubstr("waits for its turn"));
  a.Start("p0");
  a.Finish("no memory for it now");
  EXPECT_THAT(ReadReason(job), HasSubstr("tries 2 programs again"));
}

TEST_F(AdminTest, AJobSaysWhatItsWorkerWaitsFor) {
  FakeWorker a(&queue_, "a");
  a.Attach();
  const Submission job = queue_.Submit(Asked(2));
  a.Wait("the machine is busy");
  EXPECT_THAT(ReadReason(job), HasSubstr("worker a waits: the machine"));
  EXPECT_EQ(queue_.Workers()[0].reason(), "waits: the machine is busy");
  a.Start("p0");
  EXPECT_THAT(ReadReason(job), IsEmpty());
  EXPECT_THAT(queue_.Workers()[0].reason(), IsEmpty());
}

TEST_F(AdminTest, AJobIsShownProgramByProgramAndRemembered) {
  FakeWorker a(&queue_, "a");
  a.Attach();
  const Submission job = queue_.Submit(Asked(2));
  v1::ProfileResult crash;
  crash.set_key("p0");
  crash.set_outcome(v1::CRASHED);
  crash.set_reason("killed by SIGSEGV");
  crash.set_log("stack of the plugin \xff");
  a.Report(crash);
  EXPECT_EQ(queue_.GetJob(job.id)->programs(1).state(), v1::JobProgram::LEASED);
  a.Report("p1");
  const auto details = queue_.GetJob(job.id);
  ASSERT_TRUE(details.ok()) << details.status();
  EXPECT_EQ(details->job().state(), v1::JobSummary::DONE);
  ASSERT_EQ(details->programs_size(), 2);
  EXPECT_EQ(details->programs(0).label(), "segment 1 rows");
  EXPECT_EQ(details->programs(0).outcome(), v1::CRASHED);
  EXPECT_EQ(details->programs(0).reason(), "killed by SIGSEGV");
  EXPECT_EQ(details->programs(1).outcome(), v1::MEASURED);
  EXPECT_EQ(details->programs(1).worker(), "a");
  std::string log;
  for (const v1::JobLine& line : details->log()) log += line.text() + "\n";
  EXPECT_THAT(log, HasSubstr("2 programs to worker a, try 1"));
  EXPECT_THAT(log, HasSubstr("segment 1 rows: crashed: killed by SIGSEGV"));
  EXPECT_THAT(log, HasSubstr("stack of the plugin ?"));
  EXPECT_EQ(queue_.GetJob(JobId{99}).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(AdminTest, AJobIsEndedWithTheReason) {
  FakeWorker a(&queue_, "a");
  a.Attach();
  const Submission job = queue_.Submit(Asked(1));
  const auto ended = queue_.EndJob(job.id, "maintenance");
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->reason(), "an administrator ended job-1: maintenance");
  EXPECT_EQ(ReadStory(job).status,
            absl::AbortedError("an administrator ended job-1: maintenance"));
  EXPECT_THAT(a.cancelled(), SizeIs(1));
  EXPECT_EQ(queue_.EndJob(job.id, "").status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(AdminTest, AJobIsTriedAtOnceAndAsOftenAsAtFirst) {
  FakeWorker a(&queue_, "a");
  a.Attach();
  const Submission job = queue_.Submit(Asked(1));
  for (int i = 0; i < 5; ++i) {
    ASSERT_THAT(a.leases(), SizeIs(i + 1));
    a.Start("p0");
    a.Finish("no space left");
    ASSERT_TRUE(queue_.RetryJob(job.id).ok());
  }
  a.RunAll();
  EXPECT_EQ(ReadStory(job).results.at("p0").outcome(), v1::MEASURED);
  EXPECT_EQ(queue_.RetryJob(job.id).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(AdminTest, ADrainedWorkerEndsItsLeaseAndStaysAttached) {
  FakeWorker a(&queue_, "a");
  a.Attach();
  const Submission first = queue_.Submit(Asked(1));
  const Submission second = queue_.Submit(Asked(1));
  const auto draining = Order("a", v1::WorkerOrder::DRAIN, "new fan");
  ASSERT_TRUE(draining.ok()) << draining.status();
  EXPECT_EQ(draining->state(), v1::WorkerSummary::DRAINING);
  EXPECT_EQ(draining->reason(), "is drained by an administrator: new fan");
  a.RunAll();
  EXPECT_THAT(a.leases(), SizeIs(1));
  EXPECT_THAT(a.closed(), IsEmpty());
  EXPECT_EQ(queue_.Workers()[0].state(), v1::WorkerSummary::DRAINED);
  EXPECT_THAT(ReadReason(second), HasSubstr("worker a is drained by an"));
  a.Attach();  // it holds for the name
  EXPECT_THAT(a.leases(), SizeIs(1));
  EXPECT_EQ(Order("a", v1::WorkerOrder::RESUME, "")->state(),
            v1::WorkerSummary::BUSY);
  EXPECT_THAT(a.leases(), SizeIs(2));
}

TEST_F(AdminTest, AnOrderThatWasKeptHoldsForAWorkerThatAttaches) {
  FakeWorker a(&queue_, "a");
  queue_.SetOrders({MakeOrder("a", v1::WorkerOrder::QUARANTINE, "its fan")});
  a.Attach();
  queue_.Submit(Asked(1));
  EXPECT_THAT(a.leases(), IsEmpty());
  EXPECT_EQ(queue_.Workers()[0].reason(),
            "is quarantined by an administrator: its fan");
  queue_.SetOrders({});
  EXPECT_THAT(a.leases(), SizeIs(1));
}

TEST_F(AdminTest, AQuarantinedWorkersLeaseIsTakenBack) {
  FakeWorker bad(&queue_, "bad"), good(&queue_, "good");
  bad.Attach();
  const Submission job = queue_.Submit(Asked(2));
  bad.Report("p0");
  good.Attach();
  EXPECT_EQ(Order("bad", v1::WorkerOrder::QUARANTINE, "throttles")->state(),
            v1::WorkerSummary::QUARANTINED);
  EXPECT_THAT(bad.cancelled(), ElementsAre(bad.leases()[0].first));
  ASSERT_THAT(good.leases(), SizeIs(1));
  bad.Report("p1", v1::CRASHED);  // no longer heard
  good.RunAll();
  const Story story = ReadStory(job);
  EXPECT_EQ(story.results.at("p1").worker(), "good");
  EXPECT_EQ(story.results.at("p1").outcome(), v1::MEASURED);
  EXPECT_EQ(Order("nobody", v1::WorkerOrder::DRAIN, "").status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(AdminTest, AWorkerThatDrainsItselfIsClosedWhenItsLeaseIsTakenBack) {
  FakeWorker a(&queue_, "a");
  a.Attach();
  queue_.Submit(Asked(1));
  queue_.Drain(a.id());
  ASSERT_TRUE(Order("a", v1::WorkerOrder::QUARANTINE, "").ok());
  EXPECT_THAT(a.closed(), ElementsAre(absl::OkStatus()));
  EXPECT_THAT(queue_.Workers(), IsEmpty());
}

TEST_F(AdminTest, AWorkerThatIsSetAsideIsResumed) {
  FakeWorker a(&queue_, "a");
  a.Attach();
  queue_.Submit(Asked(1));
  a.Lose();
  a.Lose();
  EXPECT_EQ(queue_.Workers()[0].state(), v1::WorkerSummary::SET_ASIDE);
  EXPECT_EQ(Order("a", v1::WorkerOrder::RESUME, "")->state(),
            v1::WorkerSummary::BUSY);
}

TEST(JobIdTest, ATextIsReadAsItWasWritten) {
  EXPECT_EQ(*ParseJobId(FormatJobId(JobId{17})), JobId{17});
  for (const char* text : {"", "17", "job-", "job-0", "job-x", "plan-1"}) {
    EXPECT_EQ(ParseJobId(text).status().code(),
              absl::StatusCode::kInvalidArgument)
        << text;
  }
}

}  // namespace
}  // namespace meshwright::jobs
