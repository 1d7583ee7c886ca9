// A machine's clock that is set while plans run.
#include <gtest/gtest.h>

#include "coordinator/plans/testing/runner_fixture.h"
#include "coordinator/plans/testing/stepped_worker.h"

namespace meshwright::plans {
namespace {

using store::PlanId;
using PlanClockTest = RunnerFixture;

TEST_F(PlanClockTest, AClockThatIsSetBackLengthensNoPause) {
  auto failing = std::make_unique<FailingProfiles>();
  failing->failures.Set(1);
  profiles_ = std::move(failing);
  SteppedWorker worker(&queue_);
  const auto runner = NewRunner();
  const PlanId id = Submit(*runner, Request());
  Await(*runner, id, {v1::WAITING});
  wall_.Advance(-absl::Hours(1));
  clock_.Advance(absl::Seconds(1));
  runner->Tick();
  worker.Serve();
  EXPECT_EQ(Await(*runner, id, kEnded).state(), v1::DONE);
}

TEST_F(PlanClockTest, AClockThatIsSetBackStopsNoProgress) {
  shows_results_ = true;
  SteppedWorker worker(&queue_);
  const auto runner = NewRunner();
  const PlanId id = Submit(*runner, Request());
  worker.Await();
  Await(*runner, id, {v1::MEASURING});
  wall_.Advance(-absl::Hours(1));
  for (int done = 1; done <= kPrograms; ++done) {
    clock_.Advance(absl::Seconds(2));
    worker.Measure(1);
    v1::PlanProgress progress;
    AwaitNews(*runner, id, [&] {
      progress = plans_.Get(id)->progress();
      return progress.done() == done;
    });
    EXPECT_EQ(progress.seconds_left(), 2 * (kPrograms - done));
  }
  worker.Finish();
  EXPECT_EQ(Await(*runner, id, kEnded).state(), v1::DONE);
}

}  // namespace
}  // namespace meshwright::plans
