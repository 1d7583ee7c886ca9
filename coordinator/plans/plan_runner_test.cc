#include "coordinator/plans/plan_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/fingerprint.h"
#include "base/trace_context.h"
#include "coordinator/plans/testing/runner_fixture.h"
#include "coordinator/plans/testing/stepped_worker.h"
#include "profiledb/store/memory_plan_store.h"
#include "profiledb/store/plan_updates.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::plans {
namespace {

using store::PlanId;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAreArray;

using PlanRunnerTest = RunnerFixture;

// Takes no row until the test says so.
class GatedProfiles : public store::FakeProfileStore {
 public:
  using FakeProfileStore::Record;

  absl::Status Record(absl::Span<const store::Entry> entries) override {
    {
      base::MutexLock lock(&mutex_);
      is_asked_ = true;
      mutex_.Await(absl::Condition(&is_open_));
    }
    return FakeProfileStore::Record(entries);
  }
  // Until it is asked to take one.
  void Await() {
    base::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&is_asked_));
  }
  void Open() {
    base::MutexLock lock(&mutex_);
    is_open_ = true;
  }

 private:
  base::Mutex mutex_;
  bool is_asked_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_open_ ABSL_GUARDED_BY(mutex_) = false;
};

TEST_F(PlanRunnerTest, AnOrderHoldsAfterARestart) {
  v1::WorkerOrder order;
  order.set_worker("worker of version 1");
  order.set_kind(v1::WorkerOrder::DRAIN);
  {
    const auto runner = NewRunner();
    EXPECT_TRUE(absl::IsNotFound(runner->Order(order).status()));
    EXPECT_THAT(*plans_.ListOrders(), IsEmpty());
    SteppedWorker worker(&queue_);
    ASSERT_TRUE(runner->Order(order).ok());
  }
  queue_.SetOrders({});  // as the next coordinator's begins
  const auto runner = NewRunner();
  SteppedWorker worker(&queue_);
  EXPECT_EQ(queue_.Workers()[0].state(), v1::WorkerSummary::DRAINED);
  order.set_kind(v1::WorkerOrder::RESUME);
  EXPECT_EQ(runner->Order(order)->state(), v1::WorkerSummary::IDLE);
  EXPECT_THAT(*plans_.ListOrders(), IsEmpty());
  ASSERT_TRUE(plans_.BeginEpoch("another coordinator").ok());
  const absl::Status late = runner->Order(order).status();
  EXPECT_TRUE(absl::IsUnavailable(late)) << late;
  EXPECT_THAT(late.message(), HasSubstr("ask again"));
}

// Gives no orders until the test says so.
class AwayOrders : public store::MemoryPlanStore {
 public:
  absl::StatusOr<std::vector<v1::WorkerOrder>> ListOrders() override {
    if (is_away) return absl::UnavailableError("the database is away");
    return MemoryPlanStore::ListOrders();
  }

  bool is_away = true;
};

TEST_F(PlanRunnerTest, WhoCannotTakeTheStoreOverFollows) {
  AwayOrders plans;
  PlanRunner runner(
      {.clock = &wall_,
       .steady = &clock_,
       .plans = &plans,
       .profiles = profiles_.get(),
       .queue = &queue_,
       .plan = [](const v1::PlanRequest&, jobs::Measurer*,
                  const jobs::ProgressFunction&) -> absl::StatusOr<v1::Plan> {
         return v1::Plan();
       },
       .cover = nullptr,
       .holder = "",
       .options = {}});
  const auto epoch = plans.BeginEpoch("a");
  ASSERT_TRUE(epoch.ok()) << epoch.status();
  EXPECT_FALSE(runner.Lead(*epoch).ok());
  const PlanId id = Submit(runner, Request());
  EXPECT_EQ(runner.Cancel(id, "ann asked for it").status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(plans.Get(id)->state(), v1::QUEUED);
  plans.is_away = false;
  ASSERT_TRUE(runner.Lead(*epoch).ok());
  EXPECT_TRUE(runner.Cancel(id, "ann asked for it").ok());
}

// The first order that comes to it waits for a second one to overtake it.
class SlowOrders : public store::MemoryPlanStore {
 public:
  absl::Status SetOrder(std::optional<store::Epoch> epoch,
                        const v1::WorkerOrder& order) override {
    {
      base::MutexLock lock(&mutex_);
      const bool is_first = ++orders_ == 1;
      const auto are_two = [this] { return orders_ == 2; };
      if (is_first) {
        mutex_.AwaitWithTimeout(absl::Condition(&are_two), absl::Seconds(1));
      }
    }
    return MemoryPlanStore::SetOrder(epoch, order);
  }
  void AwaitFirst() {
    base::MutexLock lock(&mutex_);
    const auto is_there = [this] { return orders_ > 0; };
    mutex_.Await(absl::Condition(&is_there));
  }

 private:
  base::Mutex mutex_;
  int orders_ ABSL_GUARDED_BY(mutex_) = 0;
};

TEST_F(PlanRunnerTest, TwoOrdersAtOnceEndInTheSameOrderEverywhere) {
  SlowOrders plans;
  PlanRunner runner({.clock = &wall_,
                     .steady = &clock_,
                     .plans = &plans,
                     .profiles = profiles_.get(),
                     .queue = &queue_,
                     .plan = nullptr,
                     .cover = nullptr,
                     .holder = "",
                     .options = {}});
  ASSERT_TRUE(runner.Start().ok());
  const SteppedWorker worker(&queue_);
  v1::WorkerOrder drain, resume;
  drain.set_worker("worker of version 1");
  drain.set_kind(v1::WorkerOrder::DRAIN);
  resume = drain;
  resume.set_kind(v1::WorkerOrder::RESUME);
  {
    const std::jthread draining([&] { EXPECT_TRUE(runner.Order(drain).ok()); });
    plans.AwaitFirst();
    EXPECT_TRUE(runner.Order(resume).ok());
  }
  EXPECT_EQ(queue_.Workers()[0].state(), v1::WorkerSummary::IDLE);
  EXPECT_THAT(*plans.ListOrders(), IsEmpty());
}

TEST_F(PlanRunnerTest, APlanBeyondItsQuotaIsRefusedOrFails) {
  SteppedWorker worker(&queue_);
  const auto runner = NewRunner();
  EXPECT_TRUE(absl::IsResourceExhausted(
      runner->Submit(Request(), "", {.limits = {.plans = 0}}).status()));
  EXPECT_TRUE(absl::IsResourceExhausted(
      runner->Submit(Request("123"), "", {.limits = {.module_bytes = 2}})
          .status()));
  EXPECT_THAT(*plans_.List({}), IsEmpty());
  const auto few = runner->Submit(Request(), "", {.programs = kPrograms - 1});
  ASSERT_TRUE(few.ok()) << few.status();
  EXPECT_EQ(few->module_bytes(), 3);
  const v1::PlanRecord failed =
      Await(*runner, *store::ParsePlanId(few->id()), kEnded);
  EXPECT_EQ(failed.state(), v1::FAILED);
  EXPECT_THAT(failed.reason(), HasSubstr("programs measured"));
  const auto enough = runner->Submit(Request(), "", {.programs = kPrograms});
  worker.Serve();
  EXPECT_EQ(Await(*runner, *store::ParsePlanId(enough->id()), kEnded).state(),
            v1::DONE);
}

TEST_F(PlanRunnerTest, CoverageIsOfTheDevicesThatAPlanWouldBeFor) {
  CoverageFunction cover =
      [](const v1::PlanRequest& request,
         jobs::Measurer* measurer) -> absl::StatusOr<v1::CoverageReport> {
    v1::DeviceSpec device;
    device.set_device_count(2);
    const auto described = measurer->Describe(device);
    if (!described.ok()) return described.status();
    v1::CoverageReport report;
    report.set_model(request.hlo_module());
    report.set_device(described->platform_version);
    return report;
  };
  PlanRunner runner({.clock = &wall_,
                     .steady = &clock_,
                     .plans = &plans_,
                     .profiles = profiles_.get(),
                     .queue = &queue_,
                     .cover = cover});
  v1::CoverageRequest request;
  request.set_module_sha256(MakeProgramKey(1));
  EXPECT_TRUE(absl::IsNotFound(runner.Cover(request).status()));
  ASSERT_TRUE(profiles_->RecordProgram(MakeProgramKey(1), "hlo").ok());
  EXPECT_TRUE(absl::IsUnavailable(runner.Cover(request).status()));
  {
    const SteppedWorker worker(&queue_);
    EXPECT_TRUE(runner.Cover(request).ok());
  }
  const auto report = runner.Cover(request);  // the devices are remembered
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->model(), "hlo");
  EXPECT_EQ(report->device(), "version 1");
  EXPECT_THAT(*plans_.List({}), IsEmpty());
}

TEST_F(PlanRunnerTest, APlanGoesThroughItsStates) {
  SteppedWorker worker(&queue_);
  const auto runner = NewRunner();
  const PlanId id = Submit(*runner, Request());
  worker.Serve();
  const v1::PlanRecord record = Await(*runner, id, kEnded);
  EXPECT_EQ(record.state(), v1::DONE) << record.reason();
  EXPECT_EQ(record.plan().model().name(), "llama");
  EXPECT_EQ(record.device().platform_version(), "version 1");
  EXPECT_FALSE(record.request().has_stages());
  EXPECT_THAT(record.request().hlo_module(), IsEmpty());
  EXPECT_THAT(States(id),
              ElementsAre(v1::QUEUED, v1::ANALYSING, v1::MEASURING, v1::DONE));
  const auto last = *plans_.ReadUpdates(id, record.sequence() - 1, 1);
  std::vector<std::string> keys;
  for (int i = 0; i < kPrograms; ++i) keys.push_back(MakeProgramKey(i));
  EXPECT_THAT(store::UnpackKeys(last.front().row_keys()),
              UnorderedElementsAreArray(keys));
}

TEST_F(PlanRunnerTest, AFailedPlanKeepsItsReason) {
  const auto runner = NewRunner();
  const v1::PlanRecord record =
      Await(*runner, Submit(*runner, Request("bad")), kEnded);
  EXPECT_EQ(record.state(), v1::FAILED);
  EXPECT_EQ(record.reason(), "it is no HLO module");
  EXPECT_EQ(record.error_code(),
            static_cast<int>(absl::StatusCode::kInvalidArgument));
}

TEST_F(PlanRunnerTest, PlansAtOnceMeasureEqualProgramsOnce) {
  SteppedWorker worker(&queue_);
  const auto runner = NewRunner();
  const PlanId first = Submit(*runner, Request());
  worker.Await();
  const PlanId second = Submit(*runner, Request());
  Await(*runner, second, {v1::MEASURING});
  worker.Serve();
  EXPECT_EQ(Await(*runner, first, kEnded).state(), v1::DONE);
  EXPECT_EQ(Await(*runner, second, kEnded).state(), v1::DONE);
  EXPECT_THAT(worker.seen(), SizeIs(kPrograms));
}

TEST_F(PlanRunnerTest, APlanGoesOnWithWhatACancelledOneLeft) {
  SteppedWorker worker(&queue_);
  const auto runner = NewRunner();
  const PlanId first = Submit(*runner, Request());
  worker.Await();
  const PlanId second = SubmitRaised(*runner);
  const PlanId third = SubmitRaised(*runner);
  worker.Measure(1);
  ASSERT_TRUE(runner->Cancel(first, "ann asked for it").ok());
  EXPECT_EQ(Await(*runner, first, kEnded).state(), v1::CANCELLED);
  AwaitOwner(second);
  ASSERT_TRUE(runner->Cancel(second, "ann asked for it").ok());
  AwaitOwner(third);
  EXPECT_EQ(worker.cancelled(), 0);
  worker.Serve();
  EXPECT_EQ(Await(*runner, third, kEnded).state(), v1::DONE);
  EXPECT_THAT(worker.seen(), SizeIs(kPrograms));
}

TEST_F(PlanRunnerTest, WhatNoPlanWantsAnyMoreIsNotMeasured) {
  SteppedWorker worker(&queue_);
  const auto runner = NewRunner();
  const PlanId first = Submit(*runner, Request());
  worker.Await();
  const PlanId second = SubmitRaised(*runner);
  ASSERT_TRUE(runner->Cancel(first, "ann asked for it").ok());
  AwaitOwner(second);
  EXPECT_EQ(worker.cancelled(), 0);
  ASSERT_TRUE(runner->Cancel(second, "ann asked for it").ok());
  while (worker.cancelled() == 0) std::this_thread::yield();
}

TEST_F(PlanRunnerTest, APlanThatWaitsForDevicesHoldsNoThread) {
  const auto runner = NewRunner(OneAtOnce());
  const PlanId waiting = Submit(*runner, Request());
  const v1::PlanRecord record = Await(*runner, waiting, {v1::WAITING});
  EXPECT_THAT(record.reason(), HasSubstr("no worker is attached"));
  const PlanId other = Submit(*runner, Request("bad"));
  EXPECT_EQ(Await(*runner, other, kEnded).state(), v1::FAILED);
  SteppedWorker worker(&queue_);
  runner->Tick();
  worker.Serve();
  EXPECT_EQ(Await(*runner, waiting, kEnded).state(), v1::DONE);
}

TEST_F(PlanRunnerTest, TheLongestWaitIsOfThePlansWithoutDevices) {
  auto runner = NewRunner(OneAtOnce());
  EXPECT_EQ(runner->LongestWait(), absl::ZeroDuration());
  Await(*runner, Submit(*runner, Request()), {v1::WAITING});
  clock_.Advance(absl::Hours(2));
  Await(*runner, Submit(*runner, Request("own")), {v1::WAITING});
  clock_.Advance(absl::Hours(1));
  EXPECT_EQ(runner->LongestWait(), absl::Hours(3));
  // One measures, and the other waits for its turn.
  SteppedWorker worker(&queue_);
  runner->Tick();
  worker.Await();
  clock_.Advance(absl::Hours(1));
  EXPECT_EQ(runner->LongestWait(), absl::ZeroDuration());
  runner.reset();  // before the worker
}

TEST_F(PlanRunnerTest, AKnownPlanNeedsNoWorker) {
  const auto runner = NewRunner();
  {
    SteppedWorker worker(&queue_);
    const PlanId first = Submit(*runner, Request());
    worker.Serve();
    Await(*runner, first, kEnded);
  }
  const PlanId second = Submit(*runner, Request());
  const v1::PlanRecord record = Await(*runner, second, kEnded);
  EXPECT_EQ(record.state(), v1::DONE) << record.reason();
  EXPECT_EQ(record.plan().platform_version(), "version 1");
}

TEST_F(PlanRunnerTest, APlanRaisesTheJobOfThePlanThatItWaitsFor) {
  SteppedWorker worker(&queue_);
  const auto runner = NewRunner();
  const PlanId first = Submit(*runner, Request());
  worker.Await();
  const PlanId second = SubmitRaised(*runner);
  EXPECT_EQ(queue_.Jobs()[0].plan(), store::FormatPlanId(first));
  EXPECT_EQ(queue_.Jobs()[0].owner(), "ann");
  worker.Serve();
  EXPECT_EQ(Await(*runner, first, kEnded).state(), v1::DONE);
  EXPECT_EQ(Await(*runner, second, kEnded).state(), v1::DONE);
  EXPECT_THAT(worker.seen(), SizeIs(kPrograms));
}

TEST_F(PlanRunnerTest, APinnedPlanIsForItsDevicesAlone) {
  const auto runner = NewRunner();
  PlanId id;
  {
    SteppedWorker first(&queue_);
    id = Submit(*runner, Request());
    first.Await();
    first.Measure(2);
  }
  SteppedWorker other(&queue_, "version 2");
  queue_.Tick();
  clock_.Advance(absl::Seconds(20));
  queue_.Heartbeat(other.id());
  queue_.Tick();
  const v1::PlanRecord record = Await(*runner, id, {v1::WAITING});
  EXPECT_THAT(record.reason(), HasSubstr("other devices than the plan's"));
  runner->Tick();
  // The worker is silent for too long: another reason, in the same state.
  for (int i = 0; i < 100'000 && plans_.Get(id)->reason() == record.reason();
       ++i) {
    clock_.Advance(absl::Minutes(1));
    queue_.Tick();
    runner->Tick();
    std::this_thread::yield();  // the run that put it there may not have ended
  }
  EXPECT_THAT(plans_.Get(id)->reason(), HasSubstr("no worker is attached"));
  EXPECT_EQ(States(id).back(), v1::WAITING);
  EXPECT_EQ(plans_.Get(id)->state(), v1::WAITING);
  EXPECT_THAT(other.seen(), IsEmpty());
  SteppedWorker again(&queue_);
  runner->Tick();
  again.Serve();
  EXPECT_EQ(Await(*runner, id, kEnded).plan().platform_version(), "version 1");
  EXPECT_THAT(again.seen(), ElementsAre(MakeProgramKey(2), MakeProgramKey(3)));
}

// The run hears that its job is over when another worker is there already.
TEST_F(PlanRunnerTest, APlanGoesOnWhenAWorkerIsBackBeforeItsRunEnds) {
  auto gated = std::make_unique<GatedProfiles>();
  GatedProfiles& gate = *gated;
  profiles_ = std::move(gated);
  const auto runner = NewRunner();
  PlanId id;
  {
    SteppedWorker first(&queue_);
    id = Submit(*runner, Request());
    first.Await();
    first.Measure(1);
    gate.Await();
  }
  queue_.Tick();
  clock_.Advance(absl::Seconds(20));
  queue_.Tick();
  SteppedWorker back(&queue_);
  gate.Open();
  const v1::PlanRecord record =
      Await(*runner, id, {v1::WAITING, v1::DONE, v1::FAILED});
  EXPECT_EQ(record.state(), v1::WAITING);
  EXPECT_THAT(record.reason(), HasSubstr("no worker is attached"));
  runner->Tick();
  back.Serve();
  EXPECT_EQ(Await(*runner, id, kEnded).state(), v1::DONE);
  EXPECT_THAT(back.seen(), SizeIs(kPrograms - 1));
}

TEST_F(PlanRunnerTest, AStoppedPlanIsCarriedForwardByLookUps) {
  for (int stopped_after = 0; stopped_after < kPrograms; ++stopped_after) {
    profiles_ = std::make_unique<store::FakeProfileStore>();
    SteppedWorker worker(&queue_);
    auto runner = NewRunner();
    const PlanId id = Submit(*runner, Request());
    worker.Await();
    worker.Measure(stopped_after);
    runner.reset();
    worker.Finish();
    EXPECT_EQ(plans_.Get(id)->state(), v1::MEASURING);
    runner = NewRunner();
    worker.Serve();
    EXPECT_EQ(Await(*runner, id, kEnded).state(), v1::DONE);
    // Those of the second run are what the first one left.
    EXPECT_EQ(worker.seen().size(), 2 * kPrograms - stopped_after);
  }
}

TEST_F(PlanRunnerTest, APlanWhoseStoreTakesNoEndWaitsAndGoesOn) {
  for (int failures = 1; failures <= 7; ++failures) {
    profiles_ = std::make_unique<store::FakeProfileStore>();
    SteppedWorker worker(&queue_);
    const auto runner = NewRunner();
    const PlanId id = Submit(*runner, Request());
    worker.Await();
    Await(*runner, id, {v1::MEASURING});
    plans_.failures.Set(failures);
    worker.Serve();
    // Not Get: it fails, too.
    while (States(id).back() != v1::DONE) {
      clock_.Advance(absl::Minutes(1));
      runner->Tick();
      std::this_thread::yield();
    }
    EXPECT_THAT(States(id),
                ElementsAre(v1::QUEUED, v1::ANALYSING, v1::MEASURING,
                            v1::WAITING, v1::ANALYSING, v1::DONE))
        << failures;
    const auto updates = *plans_.ReadUpdates(id, 0, 100);
    const auto waits =
        std::find_if(updates.begin(), updates.end(),
                     [](const auto& it) { return it.state() == v1::WAITING; });
    ASSERT_NE(waits, updates.end());
    EXPECT_THAT(waits->reason(), HasSubstr("disk full; the plan goes on when"));
    EXPECT_THAT(worker.seen(), SizeIs(kPrograms));
  }
}

TEST_F(PlanRunnerTest, APlanWaitsWhileTheStoreOfProfilesIsAway) {
  shows_results_ = true;
  auto failing = std::make_unique<FailingProfiles>();
  Failures& failures = failing->failures;
  profiles_ = std::move(failing);
  SteppedWorker worker(&queue_);
  const auto runner = NewRunner();
  failures.Set(1);  // reads no module
  const PlanId id = Submit(*runner, Request());
  EXPECT_THAT(Await(*runner, id, {v1::WAITING}).reason(),
              HasSubstr("disk full"));
  clock_.Advance(absl::Seconds(1));
  runner->Tick();
  worker.Await();
  failures.Set(1'000'000);  // takes no row
  worker.Serve();
  EXPECT_THAT(Await(*runner, id, {v1::WAITING, v1::FAILED}).reason(),
              HasSubstr("disk full"));
  queue_.Tick();
  EXPECT_EQ(worker.acknowledged(), 0);  // it keeps what is not stored
  failures.Set(0);
  EXPECT_EQ(Await(*runner, id, kEnded).state(), v1::DONE);
  queue_.Tick();
  EXPECT_EQ(worker.acknowledged(), 1);
  EXPECT_THAT(worker.seen(), SizeIs(kPrograms));
  EXPECT_THAT(States(id),
              ElementsAre(v1::QUEUED, v1::WAITING, v1::ANALYSING, v1::MEASURING,
                          v1::WAITING, v1::MEASURING, v1::DONE));
}

TEST_F(PlanRunnerTest, APlanIsCancelledWhileItsRowsAreNotTaken) {
  auto failing = std::make_unique<FailingProfiles>();
  Failures& failures = failing->failures;
  profiles_ = std::move(failing);
  SteppedWorker worker(&queue_);
  const auto runner = NewRunner();
  const PlanId id = Submit(*runner, Request());
  worker.Await();
  failures.Set(1'000'000);
  worker.Serve();
  Await(*runner, id, {v1::WAITING});
  ASSERT_TRUE(runner->Cancel(id, "ann asked for it").ok());
  EXPECT_TRUE(runner->Drain(absl::InfiniteDuration()));
  EXPECT_EQ(plans_.Get(id)->state(), v1::CANCELLED);
}

TEST_F(PlanRunnerTest, APlanThatWasPutAsideCanBeCancelled) {
  auto failing = std::make_unique<FailingProfiles>();
  failing->failures.Set(1);
  profiles_ = std::move(failing);
  const auto runner = NewRunner();
  const PlanId id = Submit(*runner, Request());
  Await(*runner, id, {v1::WAITING});
  ASSERT_TRUE(runner->Cancel(id, "ann asked for it").ok());
  clock_.Advance(absl::Seconds(1));
  runner->Tick();
  EXPECT_EQ(Await(*runner, id, kEnded).state(), v1::CANCELLED);
}

TEST_F(PlanRunnerTest, CancelEndsAPlanInEveryState) {
  const auto runner = NewRunner(OneAtOnce());
  const PlanId waiting = Submit(*runner, Request());
  Await(*runner, waiting, {v1::WAITING});
  ASSERT_TRUE(runner->Cancel(waiting, "ann asked for it").ok());
  EXPECT_EQ(Await(*runner, waiting, kEnded).state(), v1::CANCELLED);
  EXPECT_EQ(plans_.Get(waiting)->reason(), "ann asked for it");

  SteppedWorker worker(&queue_);
  const PlanId running = Submit(*runner, Request());
  const PlanId queued = Submit(*runner, Request());
  worker.Await();
  EXPECT_EQ(runner->Cancel(queued, "ann asked for it")->state(), v1::CANCELLED);
  EXPECT_EQ(runner->Cancel(running, "ann asked for it")->state(),
            v1::CANCELLED);
  EXPECT_EQ(plans_.Get(running)->state(), v1::CANCELLED);
  EXPECT_EQ(runner->Cancel(running, "again")->reason(), "ann asked for it");
  EXPECT_TRUE(absl::IsNotFound(runner->Cancel(PlanId{99}, "").status()));
}

TEST_F(PlanRunnerTest, TheSameSubmissionIsOnePlan) {
  const auto runner = NewRunner();
  v1::SubmitPlanRequest request = Request();
  request.set_request_id("step 5");
  const PlanId first = Submit(*runner, request);
  EXPECT_EQ(Submit(*runner, request), first);
  request.set_owner("bob");
  EXPECT_NE(Submit(*runner, request), first);
}

TEST_F(PlanRunnerTest, AListOfPlansSaysWhichDoesNotFit) {
  const auto runner = NewRunner();
  SteppedWorker worker(&queue_);
  const PlanId id = Submit(*runner, Request("large"));
  worker.Serve();
  const v1::PlanRecord record = Await(*runner, id, kEnded);
  EXPECT_EQ(record.state(), v1::DONE);
  EXPECT_THAT(record.reason(),
              HasSubstr("no plan was found that fits 7 bytes"));
}

// The answer would be that of a question that was not asked.
TEST_F(PlanRunnerTest, ARequestIdNamesOneRequest) {
  const auto runner = NewRunner();
  v1::SubmitPlanRequest request = Request();
  request.set_request_id("step 5");
  Submit(*runner, request);
  v1::SubmitPlanRequest other = request;
  other.mutable_request()->set_device_memory_bytes(1 << 30);
  const absl::Status status = runner->Submit(other).status();
  EXPECT_TRUE(absl::IsAlreadyExists(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("step 5"));
  other = request;
  other.mutable_request()->set_hlo_module("own: another");
  EXPECT_TRUE(absl::IsAlreadyExists(runner->Submit(other).status()));
  EXPECT_TRUE(runner->Submit(request).ok());
}

// Nor does a module stay whose plan is refused.
TEST_F(PlanRunnerTest, WhatNoPlanNamesCountsForTheQuota) {
  const auto runner = NewRunner();
  const PlanQuota quota{.limits = {.stored_bytes = 10}};
  const std::string a = store::MakeKey("a"), b = store::MakeKey("b");
  const absl::Status put =
      runner->unclaimed().Put("vision", a, "1234567", quota.limits);
  EXPECT_TRUE(put.ok()) << put;
  EXPECT_TRUE(absl::IsResourceExhausted(
      runner->unclaimed().Put("vision", b, "1234", quota.limits)));
  EXPECT_FALSE(profiles_->FindProgramBytes(b)->has_value());
  v1::SubmitPlanRequest request = Request("12345678901");
  const absl::Status status = runner->Submit(request, "", quota).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_FALSE(
      profiles_->FindProgramBytes(base::Sha256Hex("12345678901"))->has_value());
}

TEST_F(PlanRunnerTest, AModuleIsSentOrNamed) {
  const auto runner = NewRunner();
  v1::SubmitPlanRequest request = Request("");
  EXPECT_TRUE(absl::IsInvalidArgument(runner->Submit(request).status()));
  request.set_module_sha256(store::MakeKey("module"));
  EXPECT_TRUE(absl::IsNotFound(runner->Submit(request).status()));
  ASSERT_TRUE(profiles_->RecordProgram(store::MakeKey("module"), "bad").ok());
  EXPECT_EQ(Await(*runner, Submit(*runner, request), kEnded).reason(),
            "it is no HLO module");
}

// Garbage collection takes a module when it has been found.
class TakenModules : public store::FakeProfileStore {
 public:
  absl::StatusOr<std::optional<int64_t>> FindProgramBytes(
      const std::string& key) override {
    auto bytes = FakeProfileStore::FindProgramBytes(key);
    const store::UnusedProgram taken{.key = key};
    if (takes) {
      EXPECT_TRUE(RemovePrograms({&taken, 1}).ok());
    }
    return bytes;
  }

  std::atomic<bool> takes = true;
};

TEST_F(PlanRunnerTest, AModuleThatIsTakenMeanwhileIsAskedFor) {
  auto modules = std::make_unique<TakenModules>();
  TakenModules& taken = *modules;
  profiles_ = std::move(modules);
  const auto runner = NewRunner();
  const std::string key = store::MakeKey("module");
  ASSERT_TRUE(profiles_->RecordProgram(key, "hlo").ok());
  v1::SubmitPlanRequest request = Request("");
  request.set_module_sha256(key);
  request.set_request_id("nightly");
  const absl::Status status = runner->Submit(request).status();
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("put it first"));
  EXPECT_TRUE(absl::IsNotFound(plans_.Get(PlanId{1}).status()));
  // The same submission, after the module.
  taken.takes = false;
  ASSERT_TRUE(profiles_->RecordProgram(key, "hlo").ok());
  const auto again = runner->Submit(request);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->state(), v1::QUEUED);
}

// Says once that a module is there, and then nothing.
class SilentModules : public store::FakeProfileStore {
 public:
  absl::StatusOr<std::optional<int64_t>> FindProgramBytes(
      const std::string& key) override {
    if (asked_.exchange(true)) {
      return absl::UnavailableError("the database is away");
    }
    return FakeProfileStore::FindProgramBytes(key);
  }

 private:
  std::atomic<bool> asked_ = false;
};

TEST_F(PlanRunnerTest, APlanThatIsInTheStoreRunsWhereTheSecondLookFails) {
  profiles_ = std::make_unique<SilentModules>();
  const auto runner = NewRunner();
  const std::string key = store::MakeKey("module");
  ASSERT_TRUE(profiles_->RecordProgram(key, "bad").ok());
  v1::SubmitPlanRequest request = Request("");
  request.set_module_sha256(key);
  EXPECT_EQ(Await(*runner, Submit(*runner, request), kEnded).reason(),
            "it is no HLO module");
}

TEST_F(PlanRunnerTest, APriorityIsWithinItsRange) {
  const auto runner = NewRunner();
  v1::SubmitPlanRequest request = Request();
  for (const int32_t priority : {std::numeric_limits<int32_t>::min(), -101, 101,
                                 std::numeric_limits<int32_t>::max()}) {
    request.set_priority(priority);
    EXPECT_TRUE(absl::IsInvalidArgument(runner->Submit(request).status()))
        << priority;
  }
  request.set_priority(-100);
  EXPECT_TRUE(runner->Submit(request).ok());
}

// PostgreSQL holds no text with a zero byte, and no long one in an index.
TEST_F(PlanRunnerTest, ANameIsAShortTextOfOneLine) {
  const auto runner = NewRunner();
  for (const std::string& name :
       {std::string("a\0b", 3), std::string("a\nb"), std::string("\x1b[2J"),
        std::string(1025, 'a')}) {
    for (int i = 0; i < 4; ++i) {
      v1::SubmitPlanRequest request = Request();
      if (i == 0) request.set_namespace_(name);
      if (i == 1) request.set_owner(name);
      if (i == 2) request.set_request_id(name);
      if (i == 3) request.mutable_request()->set_model_name(name);
      const absl::Status status = runner->Submit(request).status();
      EXPECT_TRUE(absl::IsInvalidArgument(status)) << i << ": " << status;
    }
  }
  v1::SubmitPlanRequest request = Request();
  request.set_owner(std::string(1024, 'a'));
  EXPECT_TRUE(runner->Submit(request).ok());
}

TEST_F(PlanRunnerTest, ADrainingRunnerTakesNoPlansAndKeepsThoseItHas) {
  const auto runner = NewRunner(OneAtOnce());
  SteppedWorker worker(&queue_);
  const PlanId running = Submit(*runner, Request());
  const PlanId queued = Submit(*runner, Request());
  worker.Await();
  Await(*runner, queued, {v1::WAITING});
  EXPECT_FALSE(runner->Drain(absl::ZeroDuration()));
  EXPECT_TRUE(absl::IsUnavailable(runner->Submit(Request()).status()));
  worker.Serve();
  EXPECT_TRUE(runner->Drain(absl::InfiniteDuration()));
  EXPECT_EQ(plans_.Get(running)->state(), v1::DONE);
  EXPECT_EQ(plans_.Get(queued)->state(), v1::WAITING);
}

TEST_F(PlanRunnerTest, AReplacedCoordinatorChangesNothing) {
  SteppedWorker worker(&queue_);
  const auto old = NewRunner();
  const PlanId id = Submit(*old, Request());
  worker.Await();
  const auto next = NewRunner();
  // Both have looked up before anything is measured.
  AwaitNews(*next, id, [&] {
    const std::vector<v1::PlanState> states = States(id);
    return std::count(states.begin(), states.end(), v1::MEASURING) == 2;
  });
  worker.Serve();  // the old one's; its plan comes to nothing
  worker.Serve();
  EXPECT_EQ(Await(*next, id, kEnded).state(), v1::DONE);
  const std::vector<v1::PlanUpdate> updates = *plans_.ReadUpdates(id, 0, 100);
  EXPECT_EQ(std::count_if(updates.begin(), updates.end(),
                          [](const v1::PlanUpdate& update) {
                            return store::HasEnded(update.state());
                          }),
            1);
}

constexpr char kTraceparent[] =
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST_F(PlanRunnerTest, ATraceFollowsAPlanThroughARestartToItsWorker) {
  PlanId id;
  {
    const auto first = NewRunner();
    const auto record = first->Submit(Request(), kTraceparent);
    ASSERT_TRUE(record.ok()) << record.status();
    EXPECT_EQ(record->traceparent(), kTraceparent);
    id = *store::ParsePlanId(record->id());
    Await(*first, id, {v1::WAITING});
  }
  SteppedWorker worker(&queue_);
  const auto second = NewRunner();
  worker.Serve();
  Await(*second, id, {v1::DONE});
  EXPECT_EQ(worker.context().plan, store::FormatPlanId(id));
  EXPECT_EQ(worker.context().traceparent, kTraceparent);
}

TEST_F(PlanRunnerTest, ASubmissionWithoutATraceBeginsOne) {
  const auto runner = NewRunner();
  const std::string first = runner->Submit(Request())->traceparent();
  EXPECT_EQ(base::ParseTraceparent(first), first);
  EXPECT_NE(runner->Submit(Request())->traceparent(), first);
}

}  // namespace
}  // namespace meshwright::plans
