// Which plans run at once, and what those in line wait for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "coordinator/plans/testing/runner_fixture.h"
#include "coordinator/plans/testing/stepped_worker.h"

namespace meshwright::plans {
namespace {

using store::PlanId;
using testing::HasSubstr;
using testing::SizeIs;

// A lease has half of a plan's programs.
class PlanTurnsTest : public RunnerFixture {
 protected:
  PlanTurnsTest() : RunnerFixture(kPrograms / 2) {}

  static v1::SubmitPlanRequest RequestOf(const std::string& team,
                                         const std::string& module,
                                         int priority = 0) {
    v1::SubmitPlanRequest request = Request(module);
    request.set_namespace_(team);
    request.set_priority(priority);
    return request;
  }
  // One looks up at once: until those submitted so far measure or are in line.
  void AwaitLine(PlanRunner& runner) {
    Await(runner, Submit(runner, Request("bad")), kEnded);
  }
  static void ServePlan(SteppedWorker& worker) {
    worker.Serve();
    worker.Serve();
  }
};

TEST_F(PlanTurnsTest, AKnownPlanWaitsForNoneThatIsMeasured) {
  const auto runner = NewRunner(OneAtOnce());
  SteppedWorker worker(&queue_);
  const PlanId known = Submit(*runner, RequestOf("a", "hlo"));
  ServePlan(worker);
  Await(*runner, known, {v1::DONE});
  const PlanId measured = Submit(*runner, RequestOf("a", "own 1"));
  worker.Await();
  const PlanId again = Submit(*runner, RequestOf("b", "hlo"));
  EXPECT_EQ(Await(*runner, again, kEnded).state(), v1::DONE);
  EXPECT_EQ(plans_.Get(measured)->state(), v1::MEASURING);
  ServePlan(worker);
  EXPECT_EQ(Await(*runner, measured, kEnded).state(), v1::DONE);
}

TEST_F(PlanTurnsTest, APlanThatMeasuresLaterWaitsInLineWithoutAThread) {
  const auto runner = NewRunner(OneAtOnce());
  SteppedWorker worker(&queue_);
  const PlanId first = Submit(*runner, RequestOf("a", "own 1"));
  worker.Await();
  const PlanId second = Submit(*runner, RequestOf("a", "own 2"));
  EXPECT_THAT(Await(*runner, second, {v1::WAITING}).reason(),
              HasSubstr("waits for its turn"));
  const PlanId third = Submit(*runner, RequestOf("a", "own 3"));
  const PlanId other = Submit(*runner, RequestOf("b", "own 4"));
  AwaitLine(*runner);
  clock_.Advance(absl::Seconds(1));  // charged to a
  for (int i = 0; i < 2; ++i) ServePlan(worker);
  EXPECT_EQ(Await(*runner, first, kEnded).state(), v1::DONE);
  EXPECT_EQ(Await(*runner, other, kEnded).state(), v1::DONE);
  EXPECT_EQ(plans_.Get(third)->state(), v1::WAITING);
  for (int i = 0; i < 2; ++i) ServePlan(worker);
  EXPECT_EQ(Await(*runner, second, kEnded).state(), v1::DONE);
  EXPECT_EQ(Await(*runner, third, kEnded).state(), v1::DONE);
  EXPECT_THAT(worker.seen(), SizeIs(4 * kPrograms));
}

TEST_F(PlanTurnsTest, APlanGivesWayWhenItsLeaseIsOver) {
  const auto runner = NewRunner(OneAtOnce());
  SteppedWorker worker(&queue_);
  const PlanId first = Submit(*runner, RequestOf("a", "own 1"));
  worker.Await();
  const PlanId urgent = Submit(*runner, RequestOf("a", "own 2", 100));
  AwaitLine(*runner);
  worker.Serve();  // what the first one has
  EXPECT_THAT(Await(*runner, first, {v1::WAITING}).reason(),
              HasSubstr("waits for its turn"));
  ServePlan(worker);
  EXPECT_EQ(Await(*runner, urgent, kEnded).state(), v1::DONE);
  worker.Serve();  // the rest
  EXPECT_EQ(Await(*runner, first, kEnded).state(), v1::DONE);
  EXPECT_EQ(worker.cancelled(), 0);
  EXPECT_THAT(worker.seen(), SizeIs(2 * kPrograms));
}

TEST_F(PlanTurnsTest, OneThatWaitsForAnothersProgramsGivesWayAtOnce) {
  const auto runner = NewRunner({.turns = {.look_ups = 1, .measurements = 2}});
  SteppedWorker worker(&queue_);
  const PlanId first = Submit(*runner, RequestOf("a", "own 1"));
  worker.Await();
  const PlanId second = Submit(*runner, RequestOf("a", "own 1"));
  AwaitLine(*runner);
  EXPECT_EQ(plans_.Get(second)->state(), v1::MEASURING);
  const PlanId other = Submit(*runner, RequestOf("b", "own 2"));
  Await(*runner, second, {v1::WAITING});
  for (int i = 0; i < 2; ++i) ServePlan(worker);
  for (const PlanId id : {first, second, other}) {
    EXPECT_EQ(Await(*runner, id, kEnded).state(), v1::DONE);
  }
  EXPECT_THAT(worker.seen(), SizeIs(2 * kPrograms));
}

// The plans of the same team that wait for the busy worker of the first.
TEST_F(PlanTurnsTest, PlansForOtherDevicesGetATurnOfThoseThatWait) {
  const auto runner = NewRunner({.turns = {.look_ups = 1, .measurements = 2}});
  SteppedWorker worker(&queue_);
  SteppedWorker other(&queue_, "version 2", "cuda");
  const PlanId first = Submit(*runner, RequestOf("a", "own 1"));
  worker.Await();
  const PlanId second = Submit(*runner, RequestOf("a", "own 2"));
  const PlanId third = Submit(*runner, RequestOf("a", "own 3"));
  AwaitLine(*runner);
  EXPECT_EQ(plans_.Get(second)->state(), v1::MEASURING);
  v1::SubmitPlanRequest request = RequestOf("a", "own 4");
  request.mutable_request()->set_platform("cuda");
  const PlanId elsewhere = Submit(*runner, request);
  Await(*runner, second, {v1::WAITING});
  ServePlan(other);
  EXPECT_EQ(Await(*runner, elsewhere, kEnded).state(), v1::DONE);
  for (int i = 0; i < 3; ++i) ServePlan(worker);
  for (const PlanId id : {first, second, third}) {
    EXPECT_EQ(Await(*runner, id, kEnded).state(), v1::DONE);
  }
  EXPECT_THAT(worker.seen(), SizeIs(3 * kPrograms));
}

TEST_F(PlanTurnsTest, ALeaderThatIsBackRunsThoseInLine) {
  const auto runner = NewRunner(OneAtOnce());
  SteppedWorker worker(&queue_);
  const PlanId first = Submit(*runner, RequestOf("a", "own 1"));
  worker.Await();
  const PlanId second = Submit(*runner, RequestOf("a", "own 2"));
  AwaitLine(*runner);
  runner->Follow();
  worker.Finish();
  ASSERT_TRUE(runner->Lead(*plans_.BeginEpoch("again")).ok());
  for (int i = 0; i < 2; ++i) ServePlan(worker);
  EXPECT_EQ(Await(*runner, first, kEnded).state(), v1::DONE);
  EXPECT_EQ(Await(*runner, second, kEnded).state(), v1::DONE);
}

// Else its namespace would stay at no charge for ever, and each newcomer would
// begin there, before those that wait.
TEST_F(PlanTurnsTest, APlanThatEndsBeforeItIsKnownLeavesTheLine) {
  const auto runner = NewRunner(OneAtOnce());
  SteppedWorker worker(&queue_);
  v1::PlanRecord record;
  record.set_namespace_("idle");
  const PlanId ended = *store::ParsePlanId(plans_.Add(record)->id());
  plans_.after_list = [&] {
    EXPECT_TRUE(runner->Cancel(ended, "ann asked for it").ok());
  };
  ASSERT_TRUE(runner->TakeSubmitted().ok());
  Submit(*runner, RequestOf("a", "own 1"));
  worker.Await();
  Await(*runner, Submit(*runner, RequestOf("a", "own 2")), {v1::WAITING});
  clock_.Advance(absl::Seconds(1));  // charged to a
  ServePlan(worker);
  worker.Await();
  Submit(*runner, RequestOf("a", "own 3"));
  AwaitLine(*runner);
  Submit(*runner, RequestOf("b", "own 4"));
  AwaitLine(*runner);
  for (int i = 0; i < 3; ++i) ServePlan(worker);
  EXPECT_EQ(worker.seen()[2 * kPrograms], store::MakeKey("own 3 0"));
}

TEST_F(PlanTurnsTest, APlanInLineIsCancelledAndOneThatGaveWayGoesOn) {
  const auto runner = NewRunner(OneAtOnce());
  SteppedWorker worker(&queue_);
  const PlanId first = Submit(*runner, RequestOf("a", "own 1"));
  worker.Await();
  const PlanId urgent = Submit(*runner, RequestOf("a", "own 2", 100));
  AwaitLine(*runner);
  EXPECT_EQ(runner->Cancel(urgent, "ann asked for it")->state(), v1::CANCELLED);
  ServePlan(worker);
  EXPECT_EQ(Await(*runner, first, kEnded).state(), v1::DONE);
  EXPECT_THAT(worker.seen(), SizeIs(kPrograms));
}

}  // namespace
}  // namespace meshwright::plans
