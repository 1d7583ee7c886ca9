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
  queue_.Raise({"shared0", "unknown"}, 5);
  queue_.Raise({"shared0"}, 1);  // one of a lower priority wants it too
  worker.Attach();
  Run(worker);
  Run(worker);
  EXPECT_THAT(Order(worker), ElementsAre("shared0", "other0"));
  queue_.Raise({"shared0"}, 5);  // over by now
}

}  // namespace
}  // namespace meshwright::jobs
