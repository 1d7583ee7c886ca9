// A plan that is durable by replay: ended after every k-th row that it stored
// and run again from its beginning, it asks for what a plan that was never
// ended asks for, and comes out the same.
//
// Concept: the store keeps the k-th row and then ends the run, as a coordinator
// that is killed between a commit and its next step. The machine is made up
// (FakeMeasurer), so that every row is what it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/stages/staged_plan.h"
#include "profiledb/store/testing/fake_profile_store.h"

namespace meshwright::integration {
namespace {

using Keys = std::vector<std::string>;

// Ends the run with every k-th row, which it keeps.
class EndingStore : public store::FakeProfileStore {
 public:
  using ProfileStore::Record;

  explicit EndingStore(std::optional<int> rows_of_a_run)
      : rows_of_a_run_(rows_of_a_run) {}

  absl::Status Record(absl::Span<const store::Entry> entries) override {
    absl::Status kept = FakeProfileStore::Record(entries);
    if (!kept.ok()) return kept;
    rows_ += static_cast<int>(entries.size());
    if (rows_of_a_run_.has_value() && rows_ % *rows_of_a_run_ == 0) {
      return absl::CancelledError("the run ends here");
    }
    return absl::OkStatus();
  }

 private:
  const std::optional<int> rows_of_a_run_;
  int rows_ = 0;
};

// Notes what it is asked for and what it answers.
class NotingMeasurer : public jobs::FakeMeasurer {
 public:
  struct Batch {
    size_t measured_before = 0;  // rows of all batches so far
    Keys keys;
  };

  absl::Status Measure(const v1::RunnerRequest& request,
                       const OnResult& on_result,
                       const OnStarted& on_started) override {
    Batch& batch = asked.emplace_back();
    batch.measured_before = measured.size();
    for (const v1::Program& program : request.programs()) {
      batch.keys.push_back(program.key());
    }
    return FakeMeasurer::Measure(
        request,
        [&](const v1::ProfileResult& result) {
          measured.push_back(result.key());
          return on_result(result);
        },
        on_started);
  }

  std::optional<absl::Time> PlanBegan() const override { return began; }

  std::vector<Batch> asked;
  Keys measured;
  const absl::Time began = absl::Now();
};

// The first row of every fourth program, by its key, is noisy and too slow; the
// second is as good as those of the others.
class NoisyAtFirst {
 public:
  void operator()(const v1::RunnerRequest&, v1::ProfileResult& row) {
    v1::Measurement& it = *row.mutable_measurement();
    it.set_quality(v1::GOOD);
    if (row.key()[0] >= '4' || !met_.insert(row.key()).second) return;
    it.set_minimum_ns(it.minimum_ns() * 17 / 10);
    it.set_median_ns(it.minimum_ns());
    it.set_quality(v1::NOISY);
    it.add_noise(v1::MINIMUM_MET_ONCE);
  }

 private:
  std::set<std::string> met_;
};

struct Case {
  std::string model;
  std::vector<int64_t> mesh;
  std::vector<std::string> open = {};
  int micro_batches = 0;  // 0: no stages
  std::set<int> fails = {};
  int64_t memory_bytes = 0;
  bool is_noisy = false;

  std::string Name() const {
    return absl::StrCat(
        model, " ", absl::StrJoin(mesh, "x"), " ", absl::StrJoin(open, ","),
        micro_batches > 0 ? " in stages" : "",
        memory_bytes > 0 ? absl::StrCat(" in ", memory_bytes) : "",
        is_noisy ? " beside others" : "");
  }
  v1::PlanRequest Request() const {
    v1::PlanRequest request;
    request.set_hlo_module(segmenter::ReadSample(model));
    for (const int64_t size : mesh) request.mutable_mesh()->add_shape(size);
    for (const std::string& name : open) {
      request.mutable_strategies()->add_open(name);
    }
    request.set_device_memory_bytes(memory_bytes);
    if (micro_batches > 0) {
      request.mutable_stages()->set_micro_batches(micro_batches);
      request.mutable_stages()->set_host_bytes_per_second(1e12);
    }
    return request;
  }
};

struct Outcome {
  v1::Plan plan;
  std::vector<NotingMeasurer::Batch> asked;
  Keys measured;
  int runs = 0;
};

// Runs it again until it comes to its end.
Outcome MakePlan(const Case& it, std::optional<int> rows_of_a_run) {
  EndingStore store(rows_of_a_run);
  NotingMeasurer measurer;
  measurer.machine = 7;
  measurer.fails = it.fails;
  if (it.is_noisy) measurer.alter = NoisyAtFirst();
  const v1::PlanRequest request = it.Request();
  const planning::PlanDependencies dependencies{&store, &measurer};
  Outcome outcome;
  while (true) {
    ++outcome.runs;
    const size_t measured = measurer.measured.size();
    const auto progress = [](const v1::PlanProgress&) {};
    auto plan = request.has_stages()
                    ? stages::MakeStagedPlan(request, dependencies, progress)
                    : planning::MakePlan(request, dependencies, progress);
    if (plan.ok()) {
      outcome.plan = *std::move(plan);
      break;
    }
    EXPECT_TRUE(absl::IsCancelled(plan.status())) << plan.status();
    // One that gets no further would never come to its end.
    EXPECT_GT(measurer.measured.size(), measured) << it.Name();
    if (testing::Test::HasFailure()) break;
  }
  outcome.asked = std::move(measurer.asked);
  outcome.measured = std::move(measurer.measured);
  return outcome;
}

// The decision of a plan, without how it came by its rows.
std::string PrintDecision(v1::Plan plan) {
  plan.clear_programs();
  plan.clear_seconds();
  return plan.DebugString();
}

// Every batch is what is left of one of the plan that was never ended.
void ExpectSameBatches(const Outcome& whole, const Outcome& ended) {
  EXPECT_EQ(ended.measured, whole.measured);
  std::vector<Keys> expected;
  for (const NotingMeasurer::Batch& batch : ended.asked) {
    const auto it = std::find_if(
        whole.asked.rbegin(), whole.asked.rend(), [&](const auto& candidate) {
          return candidate.measured_before <= batch.measured_before;
        });
    ASSERT_NE(it, whole.asked.rend());
    const size_t had = batch.measured_before - it->measured_before;
    ASSERT_LT(had, it->keys.size());
    EXPECT_EQ(batch.keys, Keys(it->keys.begin() + static_cast<int64_t>(had),
                               it->keys.end()));
  }
}

void ExpectReplayed(const Case& it, const std::vector<int>& rows_of_runs) {
  const Outcome whole = MakePlan(it, std::nullopt);
  ASSERT_EQ(whole.runs, 1);
  ASSERT_TRUE(whole.plan.feasible()) << it.Name();
  const std::set<std::string> distinct(whole.measured.begin(),
                                       whole.measured.end());
  ASSERT_EQ(distinct.size(), whole.measured.size()) << it.Name();
  for (const int rows : rows_of_runs) {
    SCOPED_TRACE(absl::StrCat(it.Name(), ", ended every ", rows, " rows"));
    const Outcome ended = MakePlan(it, rows);
    EXPECT_EQ(ended.runs, static_cast<int>(whole.measured.size()) / rows + 1);
    ExpectSameBatches(whole, ended);
    EXPECT_EQ(PrintDecision(ended.plan), PrintDecision(whole.plan));
    if (testing::Test::HasFailure()) return;
  }
}

// A noisy row is measured once more before it decides anything, whenever the
// run was ended. In another order: the run that follows begins with it.
void ExpectNoisyReplayed(Case it, const std::vector<int>& rows_of_runs) {
  it.is_noisy = true;
  const Outcome whole = MakePlan(it, std::nullopt);
  ASSERT_EQ(whole.runs, 1);
  ASSERT_TRUE(whole.plan.feasible()) << it.Name();
  const std::multiset<std::string> expected(whole.measured.begin(),
                                            whole.measured.end());
  const std::set<std::string> distinct(expected.begin(), expected.end());
  ASSERT_GT(expected.size(), distinct.size()) << "nothing is noisy";
  for (const int rows : rows_of_runs) {
    SCOPED_TRACE(absl::StrCat(it.Name(), ", ended every ", rows, " rows"));
    const Outcome ended = MakePlan(it, rows);
    EXPECT_EQ(std::multiset<std::string>(ended.measured.begin(),
                                         ended.measured.end()),
              expected);
    EXPECT_EQ(PrintDecision(ended.plan), PrintDecision(whole.plan));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(ReplayTest, EndedAfterEveryRow) {
  std::vector<int> every(20);
  std::iota(every.begin(), every.end(), 1);
  ExpectReplayed({"t5_tiny", {1, 2}}, every);
}

TEST(ReplayTest, PlansOnOneMesh) {
  ExpectReplayed({"gpt2_tiny", {1, 2}}, {2, 7});
  for (const char* model : {"llama_tiny", "moe_tiny", "scan_tiny"}) {
    ExpectReplayed({model, {1, 2}}, {5, 13});
  }
  ExpectReplayed({"llama_tiny", {2, 2}}, {11});
}

TEST(ReplayTest, PlansWithSwitchesOpen) {
  ExpectReplayed(
      {"gpt2_tiny", {1, 2}, {"fully-sharded", "sequence", "recompute"}},
      {9, 31});
}

// Wider spaces are measured too, until the plan fits.
TEST(ReplayTest, PlansShortOfMemory) {
  Case it = {"gpt2_2l", {1, 2}};
  it.memory_bytes = 1000;
  const Outcome smallest = MakePlan(it, std::nullopt);
  ASSERT_FALSE(smallest.plan.feasible());
  it.memory_bytes = smallest.plan.least_memory_bytes();
  ExpectReplayed(it, {11, 40});
}

TEST(ReplayTest, ProgramsThatFailAreRowsToo) {
  Case it = {"t5_tiny", {1, 2}};
  it.fails = {5, 6, 17};
  ExpectReplayed(it, {1, 6});
}

TEST(ReplayTest, NoisyRowsAreMeasuredOnceMore) {
  ExpectNoisyReplayed({"t5_tiny", {1, 2}}, {1, 2, 5, 13});
  ExpectNoisyReplayed({"gpt2_tiny", {1, 2}}, {3, 11});
}

TEST(ReplayTest, StagedPlans) {
  ExpectReplayed({"gpt2_2l", {1, 2}, {}, 8}, {4, 17});
  ExpectReplayed({"gpt2_4l", {2, 2}, {}, 16}, {19});
  ExpectReplayed({"unet_tiny", {1, 2}, {}, 8}, {23});
}

}  // namespace
}  // namespace meshwright::integration
