#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "coordinator/jobs/job_queue.h"
#include "coordinator/plans/plan_runner.h"
#include "profiledb/store/away.h"
#include "profiledb/store/memory_plan_store.h"
#include "profiledb/store/plan_updates.h"
#include "profiledb/store/testing/fake_profile_store.h"

namespace meshwright::plans {
namespace {

using store::PlanId;
using testing::HasSubstr;
using testing::IsEmpty;

// Takes no updates while the test says so.
class ClosedPlans : public store::MemoryPlanStore {
 public:
  absl::StatusOr<v1::PlanRecord> Append(store::Epoch epoch, PlanId id,
                                        const v1::PlanUpdate& update) override {
    if (is_closed) {
      return store::MarkAway(absl::ResourceExhaustedError("disk full"));
    }
    return MemoryPlanStore::Append(epoch, id, update);
  }

  std::atomic<bool> is_closed = false;
};

// Plans named "long" run until the test releases them; the others wait for
// devices, which are not there.
class PlanDeadlinesTest : public testing::Test {
 protected:
  PlanDeadlinesTest()
      : queue_(&clock_, {.restart_grace = absl::ZeroDuration()}) {}
  ~PlanDeadlinesTest() override {
    Release();
    queue_.Shutdown();
  }

  std::unique_ptr<PlanRunner> NewRunner() {
    PlanRunner::Dependencies dependencies;
    dependencies.clock = &wall_;
    dependencies.steady = &clock_;
    dependencies.plans = &plans_;
    dependencies.profiles = &profiles_;
    dependencies.queue = &queue_;
    dependencies.plan = [this](const v1::PlanRequest& request,
                               jobs::Measurer* measurer,
                               const jobs::ProgressFunction&) {
      return Plan(request, measurer);
    };
    dependencies.options.turns = {.look_ups = 1, .measurements = 1};
    auto runner = std::make_unique<PlanRunner>(std::move(dependencies));
    EXPECT_TRUE(runner->Start().ok());
    return runner;
  }

  absl::StatusOr<v1::Plan> Plan(const v1::PlanRequest& request,
                                jobs::Measurer* measurer) {
    if (request.model_name() == "long") {
      base::MutexLock lock(&mutex_);
      is_running_ = true;
      mutex_.Await(absl::Condition(&is_released_));
      return v1::Plan();
    }
    v1::DeviceSpec device;
    device.set_platform("cpu");
    device.set_device_count(2);
    return measurer->Describe(device).status();
  }

  static v1::SubmitPlanRequest Request(int64_t deadline_seconds,
                                       const std::string& model) {
    v1::SubmitPlanRequest request;
    request.mutable_request()->set_hlo_module("hlo");
    request.mutable_request()->set_model_name(model);
    request.set_timeout_ns(deadline_seconds * 1'000'000'000);
    return request;
  }
  static PlanId Submit(PlanRunner& runner, int64_t deadline_seconds,
                       const std::string& model = "waits") {
    const auto record = runner.Submit(Request(deadline_seconds, model));
    EXPECT_TRUE(record.ok()) << record.status();
    return record.ok() ? *store::ParsePlanId(record->id()) : PlanId();
  }

  void Pass(absl::Duration time) {
    clock_.Advance(time);
    wall_.Advance(time);
  }

  v1::PlanState FindState(PlanId id) { return plans_.Get(id)->state(); }
  void AwaitState(PlanRunner& runner, PlanId id, v1::PlanState state) {
    base::Mutex mutex;
    // The lock's release wakes the waiter below.
    const SubscriptionId subscription =
        runner.feed().Subscribe(id, [&] { base::MutexLock lock(&mutex); });
    const auto is_there = [&] { return FindState(id) == state; };
    {
      base::MutexLock lock(&mutex);
      mutex.Await(absl::Condition(&is_there));
    }
    runner.feed().Unsubscribe(id, subscription);
  }
  void AwaitRunning() {
    base::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&is_running_));
  }
  void Release() {
    base::MutexLock lock(&mutex_);
    is_released_ = true;
  }
  void ExpectLate(PlanId id) {
    const v1::PlanRecord record = *plans_.Get(id);
    EXPECT_EQ(record.state(), v1::FAILED);
    EXPECT_EQ(record.error_code(),
              static_cast<int>(absl::StatusCode::kDeadlineExceeded));
    EXPECT_THAT(record.reason(), HasSubstr("submit it again with a later one"));
  }

  base::FakeClock clock_;  // the steady one
  base::FakeClock wall_;
  jobs::JobQueue queue_;
  ClosedPlans plans_;
  store::FakeProfileStore profiles_;
  base::Mutex mutex_;
  bool is_running_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_released_ ABSL_GUARDED_BY(mutex_) = false;
};

TEST_F(PlanDeadlinesTest, APlanFailsWhileItRunsAndOneBeforeItBegins) {
  const auto runner = NewRunner();
  const PlanId running = Submit(*runner, 60, "long");
  AwaitRunning();  // on the only thread
  const PlanId queued = Submit(*runner, 60);
  const PlanId unlimited = Submit(*runner, 0);
  Pass(absl::Seconds(59));
  runner->Tick();
  EXPECT_EQ(FindState(running), v1::QUEUED);
  EXPECT_EQ(FindState(queued), v1::QUEUED);
  Pass(absl::Seconds(1));
  runner->Tick();
  ExpectLate(running);
  ExpectLate(queued);
  Release();
  AwaitState(*runner, unlimited, v1::WAITING);
  ExpectLate(running);  // the plan that it made came too late
  ExpectLate(queued);
}

TEST_F(PlanDeadlinesTest, ADeadlineHoldsAfterARestart) {
  PlanId passed, ahead;
  {
    const auto runner = NewRunner();
    passed = Submit(*runner, 60);
    ahead = Submit(*runner, 90);
    AwaitState(*runner, passed, v1::WAITING);
    AwaitState(*runner, ahead, v1::WAITING);
  }
  Pass(absl::Seconds(60));
  const auto runner = NewRunner();
  runner->Tick();
  ExpectLate(passed);
  AwaitState(*runner, ahead, v1::WAITING);
  Pass(absl::Seconds(30));
  runner->Tick();
  ExpectLate(ahead);
}

TEST_F(PlanDeadlinesTest, ADeadlineThatTheStoreDoesNotTakeIsTriedAgain) {
  const auto runner = NewRunner();
  const PlanId id = Submit(*runner, 60);
  AwaitState(*runner, id, v1::WAITING);
  Pass(absl::Seconds(60));
  plans_.is_closed = true;
  runner->Tick();
  EXPECT_EQ(FindState(id), v1::WAITING);
  plans_.is_closed = false;
  runner->Tick();
  ExpectLate(id);
}

TEST_F(PlanDeadlinesTest, AClockThatIsSetMovesNoDeadline) {
  const auto runner = NewRunner();
  const PlanId id = Submit(*runner, 60);
  AwaitState(*runner, id, v1::WAITING);
  wall_.Advance(absl::Hours(1));
  runner->Tick();
  EXPECT_EQ(FindState(id), v1::WAITING);
  wall_.Advance(-absl::Hours(2));
  clock_.Advance(absl::Seconds(60));
  runner->Tick();
  ExpectLate(id);
}

TEST_F(PlanDeadlinesTest, ADeadlineInThePastIsRefused) {
  const auto runner = NewRunner();
  EXPECT_TRUE(
      absl::IsInvalidArgument(runner->Submit(Request(-1, "any")).status()));
  EXPECT_THAT(*plans_.List({}), IsEmpty());
}

}  // namespace
}  // namespace meshwright::plans
