// Plans that are made, or wait, where no worker is attached.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "coordinator/plans/plan_runner.h"
#include "coordinator/plans/testing/runner_fixture.h"
#include "coordinator/plans/testing/stepped_worker.h"

namespace meshwright::plans {
namespace {

using store::PlanId;
using testing::HasSubstr;

class KnownDevicesTest : public RunnerFixture {
 protected:
  // Made by a worker of that kind, which then leaves.
  void Make(PlanRunner& runner, const std::string& module,
            const std::string& version) {
    SteppedWorker worker(&queue_, version);
    const PlanId id = Submit(runner, Request(module));
    worker.Serve();
    EXPECT_EQ(Await(runner, id, kEnded).device().platform_version(), version);
  }
};

TEST_F(KnownDevicesTest, AKnownPlanOfOneOfTwoKindsNeedsNoWorker) {
  const auto runner = NewRunner();
  Make(*runner, "hlo", "version 1");
  Make(*runner, "own", "version 2");
  // Another module of the programs that are known: the newest kind.
  const v1::PlanRecord other =
      Await(*runner, Submit(*runner, Request("other")), kEnded);
  EXPECT_EQ(other.state(), v1::DONE) << other.reason();
  EXPECT_EQ(other.device().platform_version(), "version 2");
  const v1::PlanRecord again =
      Await(*runner, Submit(*runner, Request("hlo")), kEnded);
  EXPECT_EQ(again.state(), v1::DONE) << again.reason();
  EXPECT_EQ(again.device().platform_version(), "version 1");
  EXPECT_EQ(again.plan().platform_version(), "version 1");
}

TEST_F(KnownDevicesTest, ThePlanOfItsModuleMayBeOlderThanAHundredOthers) {
  const auto runner = NewRunner();
  Make(*runner, "hlo", "version 1");
  Make(*runner, "own", "version 2");
  for (int i = 0; i < 100; ++i) {
    Await(*runner, Submit(*runner, Request("own")), kEnded);
  }
  const v1::PlanRecord again =
      Await(*runner, Submit(*runner, Request("hlo")), kEnded);
  EXPECT_EQ(again.state(), v1::DONE) << again.reason();
  EXPECT_EQ(again.device().platform_version(), "version 1");
}

TEST_F(KnownDevicesTest, APlanThatIsNotAllKnownTakesTheKindThatComes) {
  const auto runner = NewRunner();
  Make(*runner, "hlo", "version 1");
  const PlanId id = Submit(*runner, Request("own"));
  const v1::PlanRecord waiting = Await(*runner, id, {v1::WAITING});
  EXPECT_THAT(waiting.reason(), HasSubstr("no worker is attached"));
  EXPECT_FALSE(waiting.has_device());
  SteppedWorker worker(&queue_, "version 2");
  runner->Tick();
  worker.Serve();
  const v1::PlanRecord record = Await(*runner, id, kEnded);
  EXPECT_EQ(record.state(), v1::DONE) << record.reason();
  EXPECT_EQ(record.device().platform_version(), "version 2");
}

}  // namespace
}  // namespace meshwright::plans
