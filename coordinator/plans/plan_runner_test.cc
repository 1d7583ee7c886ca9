#include "coordinator/plans/plan_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/log/log_context.h"
#include "base/trace_context.h"
#include "coordinator/jobs/worker_port.h"
#include "profiledb/store/away.h"
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

// A worker that runs a lease when the test says so.
class SteppedWorker : public jobs::WorkerPort {
 public:
  explicit SteppedWorker(jobs::JobQueue* queue,
                         const std::string& version = "version 1")
      : queue_(queue) {
    jobs::WorkerDescription description;
    description.name = absl::StrCat("worker of ", version);
    description.devices.platform = "cpu";
    description.devices.platform_version = version;
    description.devices.device_count = 2;
    id_ = *queue_->Attach(description, this);
  }
  ~SteppedWorker() override { queue_->Leave(id_); }

  void Greet(const jobs::Welcome& /*welcome*/) override {}
  void Push(jobs::LeaseId lease, const v1::RunnerRequest& request) override {
    base::MutexLock lock(&mutex_);
    lease_ = lease;
    context_ = base::LogScope::Current();
    for (const v1::Program& program : request.programs()) {
      keys_.push_back(program.key());
      seen_.push_back(program.key());
    }
  }
  void Cancel(jobs::LeaseId /*lease*/) override {}
  void Acknowledge(jobs::LeaseId /*lease*/) override {}
  void Tell(jobs::LeaseId /*lease*/,
            const v1::GangMessage& /*message*/) override {}
  void Close(const absl::Status& /*reason*/) override {}

  // Until there is a lease.
  void Await() {
    base::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &SteppedWorker::HasLease));
  }
  // Measures the next `count` programs of the lease.
  void Measure(int count) {
    for (int i = 0; i < count; ++i) {
      v1::RunnerEvent event;
      jobs::LeaseId lease;
      {
        base::MutexLock lock(&mutex_);
        *event.mutable_result() = store::MakeMeasured("any");
        event.mutable_result()->set_key(keys_.front());
        event.mutable_result()
            ->mutable_measurement()
            ->mutable_memory()
            ->set_peak_bytes(1 << 20);
        keys_.erase(keys_.begin());
        lease = *lease_;
      }
      queue_->Update(id_, lease, event);
    }
  }
  // The whole lease.
  void Serve() {
    Await();
    int count = 0;
    {
      base::MutexLock lock(&mutex_);
      count = static_cast<int>(keys_.size());
    }
    Measure(count);
    Finish();
  }
  void Finish() {
    jobs::LeaseId lease;
    {
      base::MutexLock lock(&mutex_);
      lease = lease_.value();
      lease_.reset();
      keys_.clear();
    }
    v1::RunnerEvent finished;
    finished.mutable_finished();
    queue_->Update(id_, lease, finished);
  }
  jobs::WorkerId id() const { return id_; }
  // Of the newest lease.
  base::LogContext context() {
    base::MutexLock lock(&mutex_);
    return context_;
  }
  std::vector<std::string> seen() {
    base::MutexLock lock(&mutex_);
    return seen_;
  }

 private:
  bool HasLease() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return lease_.has_value();
  }

  jobs::JobQueue* const queue_;
  jobs::WorkerId id_;
  base::Mutex mutex_;
  std::optional<jobs::LeaseId> lease_ ABSL_GUARDED_BY(mutex_);
  base::LogContext context_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> keys_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> seen_ ABSL_GUARDED_BY(mutex_);
};

// Fails as often as the test says.
class Failures {
 public:
  void Set(int count) {
    base::MutexLock lock(&mutex_);
    left_ = count;
  }
  absl::Status Check() {
    base::MutexLock lock(&mutex_);
    if (left_ == 0) return absl::OkStatus();
    --left_;
    return store::MarkAway(
        absl::ResourceExhaustedError("the store cannot grow: disk full"));
  }

 private:
  base::Mutex mutex_;
  int left_ ABSL_GUARDED_BY(mutex_) = 0;
};

class FailingPlans : public store::MemoryPlanStore {
 public:
  absl::StatusOr<v1::PlanRecord> Get(PlanId id) override {
    const absl::Status failure = failures.Check();
    if (!failure.ok()) return failure;
    return MemoryPlanStore::Get(id);
  }
  absl::StatusOr<v1::PlanRecord> Append(store::Epoch epoch, PlanId id,
                                        const v1::PlanUpdate& update) override {
    const absl::Status failure = failures.Check();
    if (!failure.ok()) return failure;
    return MemoryPlanStore::Append(epoch, id, update);
  }

  Failures failures;
};

class FailingProfiles : public store::FakeProfileStore {
 public:
  using FakeProfileStore::Record;

  absl::Status Record(absl::Span<const store::Entry> entries) override {
    const absl::Status failure = failures.Check();
    return failure.ok() ? FakeProfileStore::Record(entries) : failure;
  }
  absl::StatusOr<std::string> LookupProgram(const std::string& key) override {
    const absl::Status failure = failures.Check();
    if (!failure.ok()) return failure;
    return FakeProfileStore::LookupProgram(key);
  }

  Failures failures;
};

// Rows that a plan needs.
constexpr int kPrograms = 4;

std::string MakeProgramKey(int program) {
  return store::MakeKey(absl::StrCat("program ", program));
}

class PlanRunnerTest : public testing::Test {
 protected:
  // No worker is ever on its way here: the queue outlives the runners.
  PlanRunnerTest() : queue_(&clock_, {.restart_grace = absl::ZeroDuration()}) {}
  ~PlanRunnerTest() override { queue_.Shutdown(); }

  std::unique_ptr<PlanRunner> NewRunner(PlanRunner::Options options = {}) {
    PlanRunner::Dependencies dependencies;
    dependencies.clock = &clock_;
    dependencies.plans = &plans_;
    dependencies.profiles = profiles_.get();
    dependencies.queue = &queue_;
    dependencies.plan = [this](const v1::PlanRequest& request,
                               jobs::Measurer* measurer,
                               const jobs::ProgressFunction& progress) {
      return Plan(request, measurer, progress);
    };
    dependencies.options = options;
    auto runner = std::make_unique<PlanRunner>(std::move(dependencies));
    EXPECT_TRUE(runner->Start().ok());
    return runner;
  }

  // The shape of every planning function: look up, measure the rest, record.
  absl::StatusOr<v1::Plan> Plan(const v1::PlanRequest& request,
                                jobs::Measurer* measurer,
                                const jobs::ProgressFunction& progress) {
    if (request.hlo_module() == "bad") {
      return absl::InvalidArgumentError("it is no HLO module");
    }
    v1::PlanProgress shown;
    shown.set_phase("analyze");
    progress(shown);
    v1::DeviceSpec device;
    device.set_device_count(2);
    const auto described = measurer->Describe(device);
    if (!described.ok()) return described.status();
    std::vector<std::string> keys;
    keys.reserve(kPrograms);
    for (int i = 0; i < kPrograms; ++i) keys.push_back(MakeProgramKey(i));
    const auto rows = profiles_->Lookup(keys);
    v1::RunnerRequest batch;
    *batch.mutable_device() = device;
    for (const std::string& key : keys) {
      if (!rows->contains(key)) batch.add_programs()->set_key(key);
    }
    if (batch.programs_size() > 0) {
      shown.set_phase("measure");
      progress(shown);
      const absl::Status measured = measurer->Measure(
          batch,
          [&](const v1::ProfileResult& result) {
            return profiles_->Record(result, store::MakeOrigin(result, ""));
          },
          nullptr);
      if (!measured.ok()) return measured;
    }
    measurer->NoteRows(keys);
    v1::Plan plan;
    plan.mutable_model()->set_name(request.model_name());
    plan.set_platform_version(described->platform_version);
    return plan;
  }

  static v1::SubmitPlanRequest Request(const std::string& module = "hlo") {
    v1::SubmitPlanRequest request;
    request.mutable_request()->set_hlo_module(module);
    request.mutable_request()->set_model_name("llama");
    request.set_owner("ann");
    return request;
  }

  static PlanId Submit(PlanRunner& runner, const v1::SubmitPlanRequest& it) {
    const auto record = runner.Submit(it);
    EXPECT_TRUE(record.ok()) << record.status();
    return record.ok() ? *store::ParsePlanId(record->id()) : PlanId();
  }

  // Until the plan is in one of the states.
  v1::PlanRecord Await(PlanRunner& runner, PlanId id,
                       const std::vector<v1::PlanState>& states) {
    v1::PlanRecord record;
    AwaitNews(runner, id, [&] {
      record = *plans_.Get(id);
      return std::find(states.begin(), states.end(), record.state()) !=
             states.end();
    });
    return record;
  }

  template <typename Condition>
  static void AwaitNews(PlanRunner& runner, PlanId id,
                        const Condition& is_there) {
    base::Mutex mutex;
    // The lock's release wakes the waiter below.
    const SubscriptionId subscription =
        runner.feed().Subscribe(id, [&] { base::MutexLock lock(&mutex); });
    {
      base::MutexLock lock(&mutex);
      mutex.Await(absl::Condition(&is_there));
    }
    runner.feed().Unsubscribe(id, subscription);
  }

  std::vector<v1::PlanState> States(PlanId id) {
    std::vector<v1::PlanState> states;
    const std::vector<v1::PlanUpdate> updates = *plans_.ReadUpdates(id, 0, 100);
    for (const v1::PlanUpdate& update : updates) {
      if (update.state() != v1::PLAN_STATE_UNSPECIFIED) {
        states.push_back(update.state());
      }
    }
    return states;
  }

  const std::vector<v1::PlanState> kEnded = {v1::DONE, v1::FAILED,
                                             v1::CANCELLED};
  base::FakeClock clock_;
  jobs::JobQueue queue_;
  FailingPlans plans_;
  std::unique_ptr<store::FakeProfileStore> profiles_ =
      std::make_unique<store::FakeProfileStore>();
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
}

// The first order that comes to it waits for a second one to overtake it.
class SlowOrders : public store::MemoryPlanStore {
 public:
  absl::Status SetOrder(const v1::WorkerOrder& order) override {
    {
      base::MutexLock lock(&mutex_);
      const bool is_first = ++orders_ == 1;
      const auto are_two = [this] { return orders_ == 2; };
      if (is_first) {
        mutex_.AwaitWithTimeout(absl::Condition(&are_two), absl::Seconds(1));
      }
    }
    return MemoryPlanStore::SetOrder(order);
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
  PlanRunner runner({.clock = &clock_,
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
  PlanRunner runner({.clock = &clock_,
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
  const PlanId second = Submit(*runner, Request());
  Await(*runner, second, {v1::MEASURING});
  worker.Measure(1);
  ASSERT_TRUE(runner->Cancel(first, "ann asked for it").ok());
  EXPECT_EQ(Await(*runner, first, kEnded).state(), v1::CANCELLED);
  worker.Finish();
  worker.Serve();
  EXPECT_EQ(Await(*runner, second, kEnded).state(), v1::DONE);
  EXPECT_THAT(worker.seen(), SizeIs(2 * kPrograms - 1));
}

TEST_F(PlanRunnerTest, APlanThatWaitsForDevicesHoldsNoThread) {
  const auto runner = NewRunner({.max_running = 1});
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
  v1::SubmitPlanRequest urgent = Request("another module");
  urgent.set_priority(5);
  const PlanId second = Submit(*runner, urgent);
  while (queue_.Jobs()[0].priority() != 5) std::this_thread::yield();
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
  EXPECT_EQ(plans_.Get(id)->state(), v1::WAITING);
  EXPECT_THAT(other.seen(), IsEmpty());
  SteppedWorker again(&queue_);
  runner->Tick();
  again.Serve();
  EXPECT_EQ(Await(*runner, id, kEnded).plan().platform_version(), "version 1");
  EXPECT_THAT(again.seen(), ElementsAre(MakeProgramKey(2), MakeProgramKey(3)));
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
  failures.Set(1);  // takes no row
  worker.Measure(1);
  EXPECT_THAT(Await(*runner, id, {v1::WAITING, v1::FAILED}).reason(),
              HasSubstr("disk full"));
  worker.Finish();
  clock_.Advance(absl::Seconds(2));
  runner->Tick();
  worker.Serve();
  EXPECT_EQ(Await(*runner, id, kEnded).state(), v1::DONE);
  EXPECT_THAT(worker.seen(), SizeIs(2 * kPrograms));
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
  const auto runner = NewRunner({.max_running = 1});
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

TEST_F(PlanRunnerTest, ADrainingRunnerTakesNoPlansAndKeepsThoseItHas) {
  const auto runner = NewRunner({.max_running = 1});
  SteppedWorker worker(&queue_);
  const PlanId running = Submit(*runner, Request());
  const PlanId queued = Submit(*runner, Request());
  worker.Await();
  EXPECT_FALSE(runner->Drain(absl::ZeroDuration()));
  EXPECT_TRUE(absl::IsUnavailable(runner->Submit(Request()).status()));
  worker.Serve();
  EXPECT_TRUE(runner->Drain(absl::InfiniteDuration()));
  EXPECT_EQ(plans_.Get(running)->state(), v1::DONE);
  EXPECT_EQ(plans_.Get(queued)->state(), v1::QUEUED);
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
  const auto second = NewRunner();
  SteppedWorker worker(&queue_);
  second->Tick();
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
