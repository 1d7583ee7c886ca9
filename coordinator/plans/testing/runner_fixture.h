// RunnerFixture: a PlanRunner with stores that fail when the test says so.
//
// Concept: plans have kPrograms programs, the same for every module, but one
// whose text begins with "own" has its own. The module "bad" is refused, and
// "large" fits no device.
// Threads: the test's, beside those of the runner. Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_PLANS_TESTING_RUNNER_FIXTURE_H_
#define MESHWRIGHT_COORDINATOR_PLANS_TESTING_RUNNER_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "coordinator/jobs/job_queue.h"
#include "coordinator/plans/plan_runner.h"
#include "profiledb/store/away.h"
#include "profiledb/store/memory_plan_store.h"
#include "profiledb/store/plan_updates.h"
#include "profiledb/store/testing/fake_profile_store.h"
#include "profiledb/store/testing/rows.h"

namespace meshwright::plans {

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
  absl::StatusOr<v1::PlanRecord> Get(store::PlanId id) override {
    const absl::Status failure = failures.Check();
    if (!failure.ok()) return failure;
    return MemoryPlanStore::Get(id);
  }
  absl::StatusOr<v1::PlanRecord> Append(store::Epoch epoch, store::PlanId id,
                                        const v1::PlanUpdate& update) override {
    const absl::Status failure = failures.Check();
    if (!failure.ok()) return failure;
    return MemoryPlanStore::Append(epoch, id, update);
  }
  absl::StatusOr<std::vector<v1::PlanRecord>> List(
      const store::PlanFilter& filter) override {
    auto page = MemoryPlanStore::List(filter);
    if (after_list) std::exchange(after_list, nullptr)();
    return page;
  }

  Failures failures;
  std::function<void()> after_list;  // called once
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
inline constexpr int kPrograms = 4;

inline std::string MakeProgramKey(int program) {
  return store::MakeKey(absl::StrCat("program ", program));
}

class RunnerFixture : public testing::Test {
 protected:
  // No worker is ever on its way here: the queue outlives the runners.
  explicit RunnerFixture(int chunk_programs = 128)
      : queue_(&clock_, {.chunk_programs = chunk_programs,
                         .restart_grace = absl::ZeroDuration()}) {}
  ~RunnerFixture() override { queue_.Shutdown(); }

  std::unique_ptr<PlanRunner> NewRunner(PlanRunner::Options options = {}) {
    PlanRunner::Dependencies dependencies;
    dependencies.clock = &wall_;
    dependencies.steady = &clock_;
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

  // One looks up, and one measures.
  static PlanRunner::Options OneAtOnce() {
    return {.turns = {.look_ups = 1, .measurements = 1}};
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
    device.set_platform(request.platform());
    device.set_device_count(2);
    const auto described = measurer->Describe(device);
    if (!described.ok()) return described.status();
    std::vector<std::string> keys;
    keys.reserve(kPrograms);
    for (int i = 0; i < kPrograms; ++i) {
      const std::string& module = request.hlo_module();
      keys.push_back(absl::StartsWith(module, "own")
                         ? store::MakeKey(absl::StrCat(module, " ", i))
                         : MakeProgramKey(i));
    }
    const auto rows = profiles_->Lookup(keys);
    v1::RunnerRequest batch;
    *batch.mutable_device() = device;
    for (const std::string& key : keys) {
      if (!rows->contains(key)) batch.add_programs()->set_key(key);
    }
    if (batch.programs_size() > 0) {
      shown.set_phase("measure");
      shown.set_total(batch.programs_size());
      progress(shown);
      const absl::Status measured = measurer->Measure(
          batch,
          [&](const v1::ProfileResult& result) {
            const absl::Status recorded =
                profiles_->Record(result, store::MakeOrigin(result, ""));
            if (!recorded.ok()) return recorded;
            shown.set_done(shown.done() + 1);
            if (shows_results_) progress(shown);
            return absl::OkStatus();
          },
          nullptr);
      if (!measured.ok()) return measured;
    }
    measurer->NoteRows(keys);
    v1::Plan plan;
    plan.mutable_model()->set_name(request.model_name());
    plan.set_platform_version(described->platform_version);
    plan.set_feasible(request.hlo_module() != "large");
    if (!plan.feasible()) {
      plan.set_limit_bytes(7);
      plan.set_least_memory_bytes(9);
    }
    return plan;
  }

  static v1::SubmitPlanRequest Request(const std::string& module = "hlo") {
    v1::SubmitPlanRequest request;
    request.mutable_request()->set_hlo_module(module);
    request.mutable_request()->set_model_name("llama");
    request.set_owner("ann");
    return request;
  }

  static store::PlanId Submit(PlanRunner& runner,
                              const v1::SubmitPlanRequest& it) {
    const auto record = runner.Submit(it);
    EXPECT_TRUE(record.ok()) << record.status();
    return record.ok() ? *store::ParsePlanId(record->id()) : store::PlanId();
  }

  // A plan that wants what the first job measures, once this returns.
  store::PlanId SubmitRaised(PlanRunner& runner) {
    v1::SubmitPlanRequest urgent = Request("another module");
    urgent.set_priority(queue_.Jobs()[0].priority() + 5);
    const store::PlanId id = Submit(runner, urgent);
    while (queue_.Jobs()[0].priority() != urgent.priority()) {
      std::this_thread::yield();
    }
    return id;
  }

  // Until the first job is for this plan.
  void AwaitOwner(store::PlanId id) {
    while (queue_.Jobs()[0].plan() != store::FormatPlanId(id)) {
      std::this_thread::yield();
    }
  }

  // Until the plan is in one of the states.
  v1::PlanRecord Await(PlanRunner& runner, store::PlanId id,
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
  static void AwaitNews(PlanRunner& runner, store::PlanId id,
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

  std::vector<v1::PlanState> States(store::PlanId id) {
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
  bool shows_results_ = false;  // as they come
  base::FakeClock clock_;       // the steady one
  base::FakeClock wall_;
  jobs::JobQueue queue_;
  FailingPlans plans_;
  std::unique_ptr<store::FakeProfileStore> profiles_ =
      std::make_unique<store::FakeProfileStore>();
};

}  // namespace meshwright::plans

#endif  // MESHWRIGHT_COORDINATOR_PLANS_TESTING_RUNNER_FIXTURE_H_
