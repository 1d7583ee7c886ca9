// Which job's programs an idle worker gets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/jobs/job_queue.h"
#include "coordinator/jobs/testing/fake_worker.h"

namespace meshwright::jobs {
namespace {

using testing::ElementsAre;

class OrderTest : public testing::Test {
 protected:
  Submission Submit(const std::string& key, const std::string& name_space,
                    int priority = 0) {
    JobRequest job = MakeJob(1, key);
    job.origin.name_space = name_space;
    job.origin.priority = priority;
    return queue_.Submit(job);
  }
  // Measures the newest lease for a while.
  void Run(FakeWorker& worker, absl::Duration time = absl::Seconds(10)) {
    clock_.Advance(time);
    worker.RunAll();
  }
  static std::vector<std::string> Order(const FakeWorker& worker) {
    std::vector<std::string> order;
    for (const auto& [lease, request] : worker.leases()) {
      order.push_back(request.programs(0).key());
    }
    return order;
  }

  base::FakeClock clock_;
  JobQueue queue_{&clock_, {}};
};

TEST_F(OrderTest, HigherPrioritiesGoFirst) {
  Submit("low", "a", -1);
  Submit("first", "a");
  Submit("second", "a");
  Submit("high", "a", 7);
  FakeWorker worker(&queue_, "w");
  worker.Attach();
  for (int i = 0; i < 4; ++i) Run(worker);
  EXPECT_THAT(Order(worker), ElementsAre("high0", "first0", "second0", "low0"));
}

TEST_F(OrderTest, ARetiredJobEndsWithTheLeasesThatItHas) {
  JobQueue queue(&clock_, {.chunk_programs = 2});
  FakeWorker a(&queue, "a"), b(&queue, "b");
  a.Attach();
  b.Attach();
  const Submission job = queue.Submit(MakeJob(8, "p"));
  queue.Retire(job.id);
  a.RunAll();
  b.Report("p2");
  b.Finish("the machine is busy");  // it is not tried again
  const Story story = ReadStory(job);
  EXPECT_TRUE(absl::IsCancelled(story.status)) << story.status;
  EXPECT_THAT(story.results, testing::SizeIs(3));
  EXPECT_THAT(a.leases(), testing::SizeIs(1));
  EXPECT_THAT(b.leases(), testing::SizeIs(1));
  EXPECT_THAT(a.cancelled(), testing::IsEmpty());
  clock_.Advance(absl::Seconds(5));
  queue.Tick();
  EXPECT_THAT(a.leases(), testing::SizeIs(1));
  b.Leave();
  const Submission waiting = queue.Submit(MakeJob(1, "q"));
  queue.Retire(waiting.id);
  a.RunAll();
  EXPECT_THAT(ReadStory(waiting).results, testing::SizeIs(1));
}

TEST_F(OrderTest, AJobGoesOnForThoseThatWantSomeOfIt) {
  JobQueue queue(&clock_, {.chunk_programs = 2});
  FakeWorker a(&queue, "a"), b(&queue, "b");
  a.Attach();
  b.Attach();
  JobRequest request = MakeJob(8, "p");
  request.origin.name_space = "first";
  const Submission job = queue.Submit(request);
  const WantId late =
      queue.Want({"p0", "p5"}, {.plan = "plan-2", .name_space = "second"});
  const WantId later = queue.Want({"p6"}, {.plan = "plan-3", .priority = 4});
  queue.LetGo(job.id);
  EXPECT_EQ(queue.Jobs()[0].plan(), "plan-2");
  EXPECT_EQ(queue.Jobs()[0].namespace_(), "second");
  EXPECT_EQ(queue.Jobs()[0].priority(), 4);
  EXPECT_THAT(a.cancelled(), testing::IsEmpty());  // it has p0
  EXPECT_THAT(b.cancelled(), testing::SizeIs(1));
  b.Report("p2");  // too late to stop it
  b.Finish();
  EXPECT_EQ(b.leases().back().second.programs(0).key(), "p5");
  b.Lose();  // it goes to the next, with what is left
  a.RunAll();
  queue.Unwant(late);
  EXPECT_EQ(queue.Jobs()[0].plan(), "plan-3");
  a.Report("p6");
  const Story story = ReadStory(job);
  EXPECT_TRUE(absl::IsCancelled(story.status)) << story.status;
  EXPECT_THAT(story.results, testing::SizeIs(4));
  queue.Unwant(later);
}

TEST_F(OrderTest, AJobThatNobodyWantsEnds) {
  const Submission job = Submit("p", "a");
  const WantId want = queue_.Want({"p0"}, {});
  queue_.LetGo(job.id);
  queue_.LetGo(job.id);
  FakeWorker worker(&queue_, "w");
  worker.Attach();
  queue_.Unwant(want);
  queue_.Unwant(want);
  EXPECT_TRUE(absl::IsCancelled(ReadStory(job).status));
  EXPECT_THAT(worker.cancelled(), testing::SizeIs(1));
  const Submission other = Submit("p", "a");
  queue_.LetGo(other.id);
  EXPECT_TRUE(absl::IsCancelled(ReadStory(other).status));
}

TEST_F(OrderTest, NamespacesShareAWorkerWhateverTheyAskFor) {
  for (int i = 0; i < 20; ++i) Submit(absl::StrCat("many", i, "."), "many");
  for (int i = 0; i < 3; ++i) Submit(absl::StrCat("few", i, "."), "few");
  FakeWorker worker(&queue_, "w");
  worker.Attach();
  for (int i = 0; i < 6; ++i) Run(worker);
  EXPECT_THAT(Order(worker),
              ElementsAre("many0.0", "few0.0", "many1.0", "few1.0", "many2.0",
                          "few2.0", "many3.0"));
}

TEST_F(OrderTest, WhoTakesLongGetsFewerTurns) {
  for (int i = 0; i < 20; ++i) {
    Submit(absl::StrCat("slow", i, "."), "slow");
    Submit(absl::StrCat("quick", i, "."), "quick");
  }
  FakeWorker worker(&queue_, "w");
  worker.Attach();
  absl::Duration slow, quick;
  for (int i = 0; i < 16; ++i) {
    const bool is_slow = Order(worker).back().starts_with("slow");
    const absl::Duration time = absl::Seconds(is_slow ? 30 : 10);
    (is_slow ? slow : quick) += time;
    Run(worker, time);
  }
  EXPECT_LE(absl::AbsDuration(slow - quick), absl::Seconds(30));
}

// Running work counts before it is done, or the first would take all workers.
TEST_F(OrderTest, NamespacesShareWorkersThatComeAtOnce) {
  for (int i = 0; i < 20; ++i) Submit(absl::StrCat("many", i, "."), "many");
  for (int i = 0; i < 20; ++i) Submit(absl::StrCat("few", i, "."), "few");
  int many = 0;
  std::vector<std::unique_ptr<FakeWorker>> workers;
  for (int i = 0; i < 10; ++i) {
    workers.push_back(
        std::make_unique<FakeWorker>(&queue_, absl::StrCat("w", i)));
    workers.back()->Attach();
    if (Order(*workers.back())[0].starts_with("many")) ++many;
  }
  EXPECT_EQ(many, 5);
}

TEST_F(OrderTest, ASharedJobHasTheHighestPriorityOfThoseThatWantIt) {
  const Submission shared = Submit("shared", "first");
  Submit("other", "other", 3);
  FakeWorker worker(&queue_, "w");
  queue_.Want({"shared0", "later0"}, {.priority = 5});
  queue_.Want({"shared0"}, {.priority = 1});  // a lower one wants it, too
  Submit("later", "other");
  worker.Attach();
  for (int i = 0; i < 3; ++i) Run(worker);
  EXPECT_THAT(Order(worker), ElementsAre("shared0", "later0", "other0"));
  queue_.Want({"shared0"}, {.priority = 5});  // over by now
}

}  // namespace
}  // namespace meshwright::jobs
