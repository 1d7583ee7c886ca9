#include "coordinator/planning/plan_pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "coordinator/estimation/time_base.h"
#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/planning/remeasure.h"
#include "coordinator/planning/score.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/selection/measurement_order.h"
#include "coordinator/selection/selection.h"
#include "profiledb/store/anchor_time.h"
#include "profiledb/store/row_time.h"
#include "profiledb/store/testing/fake_profile_store.h"

namespace meshwright::planning {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PlanPipelineTest : public testing::Test {
 protected:
  static v1::PlanRequest Request(const std::string& model,
                                 const std::vector<int64_t>& mesh = {1, 2}) {
    v1::PlanRequest request;
    request.set_hlo_module(segmenter::ReadSample(model));
    for (int64_t size : mesh) request.mutable_mesh()->add_shape(size);
    request.set_full_space(true);
    return request;
  }

  absl::StatusOr<v1::Plan> Plan(const v1::PlanRequest& request) {
    return MakePlan(request, {&store_, &measurer_},
                    [](const v1::PlanProgress&) {});
  }

  store::FakeProfileStore store_;
  jobs::FakeMeasurer measurer_;
};

TEST_F(PlanPipelineTest, MeasuresEveryDistinctProgramOnce) {
  const auto plan = Plan(Request("llama_tiny"));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->programs().distinct(), measurer_.programs);
  EXPECT_EQ(plan->programs().profiled(), measurer_.programs);
  EXPECT_EQ(plan->programs().cached(), 0);
  EXPECT_EQ(plan->segments_size(), 4);
  EXPECT_DOUBLE_EQ(plan->lower_bound_seconds(),
                   plan->predicted().step_seconds());
  EXPECT_EQ(plan->arguments_size(), 67);
}

TEST_F(PlanPipelineTest, TheSamePlanAgainMeasuresNothing) {
  const auto first = Plan(Request("gpt2_2l"));
  const int measured = measurer_.programs;
  const auto again = Plan(Request("gpt2_2l"));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(measurer_.programs, measured);
  EXPECT_EQ(again->programs().cached(), measured);
  EXPECT_EQ(again->predicted().step_seconds(),
            first->predicted().step_seconds());
  // A deeper copy of the model neither.
  const auto deeper = Plan(Request("gpt2_4l"));
  ASSERT_TRUE(deeper.ok()) << deeper.status();
  EXPECT_EQ(measurer_.programs, measured);
  EXPECT_EQ(deeper->segments_size(), first->segments_size() + 2);
}

// Nothing is left to measure, so that only the search can notice.
TEST_F(PlanPipelineTest, AStopEndsTheSearch) {
  const v1::PlanRequest request = Request("llama_tiny");
  ASSERT_TRUE(Plan(request).ok());
  std::stop_source source;
  measurer_.stop = source.get_token();
  source.request_stop();
  EXPECT_EQ(Plan(request).status().code(), absl::StatusCode::kCancelled);
}

TEST_F(PlanPipelineTest, GoesOnWithoutWhatFailsAndSaysSo) {
  measurer_.fails = {5, 6, 7};
  const auto plan = Plan(Request("llama_tiny"));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->programs().failed(), 3);
  EXPECT_THAT(plan->notes(), Contains(HasSubstr("made to fail")));
  // A program that does not compile is not tried again.
  const int measured = measurer_.programs;
  ASSERT_TRUE(Plan(Request("llama_tiny")).ok());
  EXPECT_EQ(measurer_.programs, measured);
}

TEST_F(PlanPipelineTest, TriesAProgramThatTimedOutAgain) {
  measurer_.fails = {5};
  measurer_.fail_as = v1::TIMED_OUT;
  ASSERT_TRUE(Plan(Request("llama_tiny")).ok());
  const auto again = Plan(Request("llama_tiny"));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->programs().profiled(), 1);
  EXPECT_THAT(again->notes(), IsEmpty());
}

TEST_F(PlanPipelineTest, ACrashedProgramStaysInQuarantine) {
  measurer_.fails = {5};
  measurer_.fail_as = v1::CRASHED;
  ASSERT_TRUE(Plan(Request("llama_tiny")).ok());
  const auto again = Plan(Request("llama_tiny"));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->programs().profiled(), 0);
}

TEST_F(PlanPipelineTest, TheSharedEmbeddingIsSplitOneWay) {
  const auto plan = Plan(Request("bert_tiny"));
  ASSERT_TRUE(plan.ok()) << plan.status();
  v1::PlanRequest request = Request("bert_tiny");
  const auto step = MeasureStep(request, {&store_, &measurer_},
                                [](const v1::PlanProgress&) {});
  ASSERT_TRUE(step.ok()) << step.status();
  // Every pair of prologue and head that differs in the shared parameter is
  // forbidden: the tables that are neither boundaries nor full have holes.
  int holes = 0;
  for (const auto& table : step->measured.problem.tables) {
    for (const auto& entry : table.entries) holes += !entry.has_value();
  }
  EXPECT_GT(holes, 0);
}

TEST_F(PlanPipelineTest, ASoloPlanHasRowsOfItsOwnAndTheTimesOfItsLinks) {
  const auto plain = Plan(Request("llama_tiny"));
  ASSERT_TRUE(plain.ok()) << plain.status();
  v1::PlanRequest request = Request("llama_tiny");
  request.set_solo(true);
  for (int axis = 0; axis < 2; ++axis) request.add_links();
  const int measured = measurer_.programs;
  const auto solo = Plan(request);
  ASSERT_TRUE(solo.ok()) << solo.status();
  EXPECT_EQ(measurer_.programs, 2 * measured);  // none of the others'
  EXPECT_EQ(solo->predicted().communication_seconds(), 0);
  EXPECT_TRUE(solo->device_fingerprint().solo());
  EXPECT_THAT(solo->notes(),
              Contains(HasSubstr("one device stood for the mesh")));
  // The next asks no device: links are added when rows are read.
  request.mutable_links(1)->set_alpha(1);
  const auto slow = Plan(request);
  ASSERT_TRUE(slow.ok()) << slow.status();
  EXPECT_EQ(measurer_.programs, 2 * measured);
  EXPECT_EQ(slow->links(1).alpha(), 1);
  EXPECT_LE(solo->predicted().step_seconds(), slow->predicted().step_seconds());
}

TEST_F(PlanPipelineTest, LinksBelongToASoloPlanOfOneMesh) {
  v1::PlanRequest request = Request("llama_tiny");
  request.add_links();
  EXPECT_THAT(Plan(request).status().message(),
              HasSubstr("give them with --solo only"));
  request.set_solo(true);
  EXPECT_THAT(Plan(request).status().message(),
              HasSubstr("needs the links of its 2 axes, not of 1"));
  request.add_links();
  request.mutable_stages()->set_micro_batches(4);
  EXPECT_THAT(Plan(request).status().message(),
              HasSubstr("one device stands for one mesh"));
}

TEST_F(PlanPipelineTest, AnImpossibleLimitNamesTheLeastMemory) {
  v1::PlanRequest request = Request("llama_tiny");
  request.set_device_memory_bytes(1000);
  const auto plan = Plan(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_FALSE(plan->feasible());
  EXPECT_GT(plan->least_memory_bytes(), 1000);
  request.set_device_memory_bytes(plan->least_memory_bytes());
  const auto smallest = Plan(request);
  ASSERT_TRUE(smallest.ok()) << smallest.status();
  EXPECT_TRUE(smallest->feasible());
  EXPECT_LE(smallest->predicted().peak_bytes(), plan->least_memory_bytes());
}

TEST_F(PlanPipelineTest, TheFiguresOfSegmentsAddUp) {
  for (const char* model : {"gpt2_2l", "t5_tiny", "scan_tiny"}) {
    const auto plan = Plan(Request(model));
    ASSERT_TRUE(plan.ok()) << plan.status();
    double seconds = 0, communication = 0, resharding = 0;
    int64_t bytes = 0;
    for (const v1::PlanSegment& it : plan->segments()) {
      seconds += it.seconds() + it.resharding_seconds();
      communication += it.communication_seconds() + it.resharding_seconds();
      resharding += it.resharding_seconds();
      bytes += it.memory_bytes();
    }
    const v1::PlanPrediction& predicted = plan->predicted();
    EXPECT_NEAR(seconds, predicted.step_seconds(), 1e-11) << model;
    EXPECT_NEAR(communication, predicted.communication_seconds(), 1e-11);
    EXPECT_NEAR(resharding, predicted.resharding_seconds(), 1e-11);
    EXPECT_LE(bytes, predicted.peak_bytes());
  }
}

// Over several machines: what one is lucky with when it plans stays so for all
// that is measured again.
TEST_F(PlanPipelineTest, TheIntervalHoldsThePlanMeasuredAgain) {
  measurer_.noise = 0.01;
  int held = 0;
  int times = 0;
  for (const int machine : {1, 2, 3, 4, 5}) {
    measurer_.machine = machine;
    measurer_.noise_seed = 0;
    store::FakeProfileStore own;
    const auto plan = MakePlan(Request("gpt2_2l"), {&own, &measurer_},
                               [](const v1::PlanProgress&) {});
    ASSERT_TRUE(plan.ok()) << plan.status();
    ASSERT_EQ(plan->predicted().interval_seconds_size(), 2);
    const double low = plan->predicted().interval_seconds(0);
    const double high = plan->predicted().interval_seconds(1);
    EXPECT_LT(low, plan->predicted().step_seconds());
    EXPECT_GT(high, plan->predicted().step_seconds());
    EXPECT_LT(high - low, 0.03 * plan->predicted().step_seconds());
    space::SegmentChoice choice;
    for (const v1::PlanSegment& it : plan->segments()) {
      choice.push_back(it.config());
    }
    for (int seed = 1; seed <= 4; ++seed, ++times) {
      measurer_.noise_seed = seed;
      store::FakeProfileStore empty;
      const auto step = MeasureStep(Request("gpt2_2l"), {&empty, &measurer_},
                                    [](const v1::PlanProgress&) {});
      ASSERT_TRUE(step.ok()) << step.status();
      const auto score = ScoreChoice(*step, choice);
      ASSERT_TRUE(score.ok()) << score.status();
      held += score->seconds >= low && score->seconds <= high;
    }
  }
  EXPECT_GE(held, times * 3 / 4);
}

TEST_F(PlanPipelineTest, AMeshThatDividesNothingGivesAReplicatedPlan) {
  const auto plan = Plan(Request("llama_tiny", {1, 7}));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->notes(), Contains(HasSubstr("replicated")));
  for (const v1::PlanArgument& argument : plan->arguments()) {
    EXPECT_THAT(argument.sharding(), testing::Not(HasSubstr("1")));
  }
}

TEST_F(PlanPipelineTest, WithoutMeasurementsAndWithoutWaitingThereIsNoPlan) {
  v1::PlanRequest request = Request("llama_tiny");
  request.set_no_wait(true);
  EXPECT_EQ(Plan(request).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(measurer_.programs, 0);
}

TEST_F(PlanPipelineTest, RowsOfAnUnknownMachineCountWhereTheyAreAskedFor) {
  v1::PlanRequest request = Request("llama_tiny");
  request.set_unknown_machine(true);
  EXPECT_EQ(Plan(request).status().code(), absl::StatusCode::kInvalidArgument);
  request.set_no_wait(true);
  const auto step = OpenStep(request, &measurer_);
  ASSERT_TRUE(step.ok()) << step.status();
  const auto rows = measurer_.MeasureAll(step->space.programs);
  ASSERT_TRUE(rows.ok()) << rows.status();
  for (const auto& [key, row] : *rows) {
    ASSERT_TRUE(store_.Record(row, {}).ok());
  }
  const auto plan = Plan(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_TRUE(plan->feasible());
  request.set_unknown_machine(false);
  EXPECT_EQ(Plan(request).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(PlanPipelineTest, RefusesBadMeshes) {
  for (const std::vector<int64_t>& mesh :
       {std::vector<int64_t>{},
        {0, 2},
        {-1},
        {4096, 2},
        {int64_t{1} << 62, int64_t{1} << 62}}) {
    EXPECT_EQ(Plan(Request("llama_tiny", mesh)).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

// The order of a step is a whole plan: with its programs in the store and no
// others, --no-wait makes one.
TEST_F(PlanPipelineTest, AnInterruptedPlanLeavesOneBehind) {
  for (const char* model : {"gpt2_2l", "llama_tiny", "moe_2l"}) {
    store::FakeProfileStore store;
    jobs::FakeMeasurer measurer;
    v1::PlanRequest request = Request(model);
    const auto step = OpenStep(request, &measurer);
    ASSERT_TRUE(step.ok()) << step.status();
    const selection::MeasurementOrder order = selection::FindMeasurementOrder(
        step->analysis, step->space, std::nullopt);
    const int first = static_cast<int>(order.keys.size());
    ASSERT_GT(first, 0) << model;
    ASSERT_LT(first, static_cast<int>(step->space.programs.size()) / 3);
    measurer.stops_after = first;
    EXPECT_FALSE(
        MakePlan(request, {&store, &measurer}, [](const v1::PlanProgress&) {
        }).ok());
    EXPECT_EQ(measurer.programs, first);
    request.set_no_wait(true);
    const auto plan =
        MakePlan(request, {&store, &measurer}, [](const v1::PlanProgress&) {});
    ASSERT_TRUE(plan.ok()) << model << ": " << plan.status();
    EXPECT_TRUE(plan->feasible());
    EXPECT_EQ(plan->programs().cached(), first);
  }
}

// The plan of a quiet machine, and its programs, the shortest first.
class NoisyRowsTest : public PlanPipelineTest {
 protected:
  void SetUp() override {
    measurer_.machine = kMachine;
    auto plan = Plan(Request("gpt2_2l"));
    ASSERT_TRUE(plan.ok()) << plan.status();
    quiet_ = *std::move(plan);
    auto step = MeasureStep(Request("gpt2_2l"), {&store_, &measurer_},
                            [](const v1::PlanProgress&) {});
    ASSERT_TRUE(step.ok()) << step.status();
    step_ = *std::move(step);
    used_ = ListUsedPrograms(quiet_, step_);
    std::sort(used_.begin(), used_.end(),
              [&](auto* a, auto* b) { return Time(a) < Time(b); });
    ASSERT_LT(Time(used_.front()), Time(used_.back()) / 50);
  }

  int64_t Time(const v1::Program* program) const {
    return step_.results.at(program->key()).measurement().minimum_ns();
  }

  // How often the program is measured for two plans if it is noisy each time.
  int CountMeasurements(const v1::Program* restless, v1::Quality expected) {
    int count = 0;
    jobs::FakeMeasurer measurer;
    measurer.machine = kMachine;
    measurer.alter = [&](const v1::RunnerRequest&, v1::ProfileResult& result) {
      const bool is_restless = result.key() == restless->key();
      count += is_restless ? 1 : 0;
      result.mutable_measurement()->set_quality(is_restless ? v1::NOISY
                                                            : v1::GOOD);
    };
    store::FakeProfileStore store;
    for (int round = 0; round < 2; ++round) {
      const auto plan = MakePlan(Request("gpt2_2l"), {&store, &measurer},
                                 [](const v1::PlanProgress&) {});
      EXPECT_TRUE(plan.ok()) << plan.status();
      EXPECT_EQ(plan->quality(), expected);
    }
    return count;
  }

  static constexpr uint64_t kMachine = 3;
  v1::Plan quiet_;
  MeasuredStep step_;
  Measuring::Programs used_;
};

TEST_F(NoisyRowsTest, ThoseOfAPlanThatIsNotChosenHeal) {
  jobs::BusyMeasurer busy;
  busy.machine = kMachine;
  busy.slow.emplace();
  for (const v1::Program* program : used_) {
    // Noise of shorter ones is left.
    if (Time(program) > Time(used_.back()) / 10) {
      busy.slow->insert(program->key());
    }
  }
  ASSERT_GT(busy.slow->size(), 1);
  store::FakeProfileStore store;
  const auto plan = MakePlan(Request("gpt2_2l"), {&store, &busy},
                             [](const v1::PlanProgress&) {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(busy.slowed, *busy.slow);
  EXPECT_EQ(plan->predicted().step_seconds(),
            quiet_.predicted().step_seconds());
  EXPECT_EQ(plan->quality(), quiet_.quality());
}

// A second plan of the same would else measure what changes nothing.
TEST_F(NoisyRowsTest, ThoseThatNobodyWouldNoticeAreLeft) {
  // Once more at once, and not for its plan.
  EXPECT_EQ(CountMeasurements(used_.front(), v1::GOOD), 2);
  EXPECT_EQ(CountMeasurements(used_.back(), v1::NOISY), kEnoughMeasurements);
}

TEST_F(NoisyRowsTest, AStopEndsRemeasuring) {
  step_.results.at(used_.back()->key())
      .mutable_measurement()
      ->set_quality(v1::NOISY);
  std::stop_source source;
  source.request_stop();
  measurer_.stop = source.get_token();
  const int measured = measurer_.programs;
  const v1::PlanRequest request = Request("gpt2_2l");
  const auto changed = RemeasureNoisy(
      request, quiet_, /*with_rivals=*/true,
      MakeDeviceSpec(request, step_.space.context.mesh), {&store_, &measurer_},
      [](const v1::PlanProgress&) {}, step_);
  EXPECT_EQ(changed.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(measurer_.programs, measured);
}

// A layer's row is short beside that of a head, and a step runs it once a
// layer.
TEST_F(PlanPipelineTest, ARowCountsAsOftenAsAStepRunsIt) {
  measurer_.machine = 3;
  const auto plan = Plan(Request("gpt2_4l"));
  ASSERT_TRUE(plan.ok()) << plan.status();
  auto step = MeasureStep(Request("gpt2_4l"), {&store_, &measurer_},
                          [](const v1::PlanProgress&) {});
  ASSERT_TRUE(step.ok()) << step.status();
  const Measuring::Programs used = ListUsedPrograms(*plan, *step);
  const auto program_of = [&](int segment) {
    const v1::PlanSegment& it = plan->segments(segment);
    const auto& type = step->space.types[segmenter::SegmentTypeId(it.type())];
    return &step->space.programs[*type.configurations[it.config()].program];
  };
  const v1::Program* const head = program_of(plan->segments_size() - 1);
  const v1::Program* const layer = program_of(plan->segments_size() - 2);
  const auto quality_if_noisy = [&](const v1::Program* noisy) {
    for (const v1::Program* program : used) {
      v1::Measurement& it =
          *step->results.at(program->key()).mutable_measurement();
      const int64_t wanted = program == head    ? 1'000'000
                             : program == noisy ? 15'000
                                                : 100;
      estimation::ScaleTimes(static_cast<double>(wanted) /
                                 static_cast<double>(store::GetTimeNs(it)),
                             it);
      it.set_quality(program == noisy ? v1::NOISY : v1::GOOD);
    }
    v1::Plan judged;
    AddQuality(used, *step, judged);
    return judged.quality();
  };
  EXPECT_EQ(quality_if_noisy(program_of(0)), v1::GOOD);
  EXPECT_EQ(quality_if_noisy(layer), v1::NOISY);
}

TEST_F(NoisyRowsTest, GoodMeasurementsThatLieFarApartAreNotGood) {
  v1::ProfileResult row = step_.results.at(used_.back()->key());
  estimation::ScaleTimes(1.5, *row.mutable_measurement());
  ASSERT_TRUE(store_.Record(row, {}).ok());
  v1::PlanRequest request = Request("gpt2_2l");
  request.set_no_wait(true);
  const auto plan = Plan(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->quality(), v1::NOISY);
}

// A whole plan was made in a slow period, which its rows do not show by
// themselves. A quarter of the rows, of a better moment, does. No plan uses
// them: they are of programs that gain nothing there.
class SlowPeriodTest : public NoisyRowsTest {
 protected:
  void SetUp() override {
    NoisyRowsTest::SetUp();
    machine_.machine = kMachine;
    machine_.alter = [&](const v1::RunnerRequest&, v1::ProfileResult& result) {
      SetPeriod(is_slow_, result);
    };
    const std::set<const v1::Program*> used(used_.begin(), used_.end());
    const size_t enough = step_.space.programs.size() / 4 + 1;
    size_t better = 0;
    for (const v1::Program& program : step_.space.programs) {
      const bool is_slow = used.contains(&program) || better == enough;
      v1::ProfileResult row = step_.results.at(program.key());
      if (!is_slow) {
        estimation::ScaleTimes(kLoss, *row.mutable_measurement());
        ++better;
      }
      SetPeriod(is_slow, row);
      ASSERT_TRUE(here_.Record(row, {}).ok());
    }
    ASSERT_EQ(better, enough) << "the plan uses most programs";
  }

  static void SetPeriod(bool is_slow, v1::ProfileResult& result) {
    v1::Measurement& it = *result.mutable_measurement();
    if (is_slow) estimation::ScaleTimes(kLoss, it);
    it.set_quality(v1::GOOD);
    v1::AnchorTime& anchor = *it.add_anchors();
    anchor.set_name(store::kSpeedAnchor);
    anchor.set_minimum_ns(is_slow ? kSlowAnchor : kAnchor);
  }

  v1::Plan PlanHere() {
    machine_.programs = 0;
    auto plan = MakePlan(Request("gpt2_2l"), {&here_, &machine_},
                         [](const v1::PlanProgress&) {});
    EXPECT_TRUE(plan.ok()) << plan.status();
    return plan.value_or(v1::Plan());
  }

  static constexpr double kLoss = 1.15;
  static constexpr int64_t kAnchor = 15'200;
  static constexpr int64_t kSlowAnchor = 15'900;
  bool is_slow_ = true;
  jobs::FakeMeasurer machine_;
  store::FakeProfileStore here_;
};

TEST_F(SlowPeriodTest, ItsRowsHealWhereAPlanUsesThem) {
  is_slow_ = false;
  const v1::Plan plan = PlanHere();
  EXPECT_EQ(plan.quality(), v1::GOOD);
  EXPECT_THAT(plan.noise(), IsEmpty());
  EXPECT_GT(plan.programs().remeasured(), 0);
  EXPECT_LT(machine_.programs, plan.programs().distinct());
  ASSERT_EQ(plan.anchors_size(), 1);
  const auto base = static_cast<double>(plan.anchors(0).minimum_ns());
  EXPECT_NEAR(plan.predicted().step_seconds(),
              quiet_.predicted().step_seconds() * base / kAnchor,
              0.01 * quiet_.predicted().step_seconds());
}

TEST_F(SlowPeriodTest, MeasuringAgainIsNoSearch) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kRow(5);
  machine_.alter = [&](const v1::RunnerRequest&, v1::ProfileResult& result) {
    SetPeriod(/*is_slow=*/false, result);
    result.mutable_measurement()->set_compile_ns(1'000'000'000);
    const auto end = Clock::now() + kRow;
    while (Clock::now() < end) {
    }
  };
  const v1::Plan plan = PlanHere();
  ASSERT_GT(machine_.programs, 0);
  EXPECT_NEAR(plan.seconds().compile(), machine_.programs, 1e-6);
  EXPECT_GE(plan.seconds().profile(),
            std::chrono::duration<double>(kRow).count() * machine_.programs);
}

// Each plan measures less: what has been measured often enough is left.
TEST_F(SlowPeriodTest, APlanThatStaysInItSaysSoAndEndsMeasuring) {
  const auto programs = static_cast<int>(step_.space.programs.size());
  int measured = 0;
  do {
    const v1::Plan plan = PlanHere();
    EXPECT_EQ(plan.quality(), v1::NOISY);
    EXPECT_THAT(plan.noise(), Contains(v1::SLOW_PERIOD));
    measured += machine_.programs;
  } while (machine_.programs > 0 && measured < kEnoughMeasurements * programs);
  EXPECT_EQ(machine_.programs, 0);
}

// Estimates, proxies and exclusions stand on them.
TEST_F(PlanPipelineTest, WhatIsMeasuredFirstHealsBeforeItDecides) {
  v1::PlanRequest request = Request("t5_tiny");
  request.clear_full_space();
  const auto plan = [&](store::FakeProfileStore& store,
                        jobs::FakeMeasurer& measurer) {
    return MakePlan(request, {&store, &measurer},
                    [](const v1::PlanProgress&) {});
  };
  jobs::BusyMeasurer busy;
  busy.machine = 5;
  const auto step = OpenStep(request, &busy);
  ASSERT_TRUE(step.ok()) << step.status();
  const selection::Selection selection(step->analysis, step->space,
                                       std::nullopt);
  const auto first = static_cast<int>(selection.First().size());
  // A plan that ends once it has measured these.
  busy.stops_after = first;
  store::FakeProfileStore store;
  EXPECT_FALSE(plan(store, busy).ok());
  EXPECT_EQ(busy.slowed.size(), selection.First().size());
  measurer_.machine = 5;
  measurer_.alter = [](const v1::RunnerRequest&, v1::ProfileResult& result) {
    result.mutable_measurement()->set_quality(v1::GOOD);
  };
  const auto healed = plan(store, measurer_);
  ASSERT_TRUE(healed.ok()) << healed.status();
  EXPECT_EQ(measurer_.batches.front(), first);
  const auto quiet = plan(store_, measurer_);
  ASSERT_TRUE(quiet.ok()) << quiet.status();
  EXPECT_EQ(healed->predicted().step_seconds(),
            quiet->predicted().step_seconds());
  EXPECT_EQ(healed->excluded_size(), quiet->excluded_size());
}

// A plan that does not wait finds all rows in the store and judges by them.
TEST_F(PlanPipelineTest, ExclusionsAreThoseOfTheRowsThatHealed) {
  int excluded = 0;
  int healed = 0;
  for (const char* model : {"llama_2l", "bert_2l", "moe_2l"}) {
    // Every program is slow at first, or every third.
    for (const size_t stride : {1, 3}) {
      v1::PlanRequest request = Request(model);
      request.clear_full_space();
      jobs::BusyMeasurer busy;
      busy.machine = 5;
      const auto step = OpenStep(request, &busy);
      ASSERT_TRUE(step.ok()) << step.status();
      busy.slow.emplace();
      for (size_t i = 0; i < step->space.programs.size(); i += stride) {
        busy.slow->insert(step->space.programs[i].key());
      }
      store::FakeProfileStore store;
      const auto plan =
          MakePlan(request, {&store, &busy}, [](const v1::PlanProgress&) {});
      ASSERT_TRUE(plan.ok()) << plan.status();
      healed += busy.programs - plan->programs().profiled();
      request.set_no_wait(true);
      const auto again =
          MakePlan(request, {&store, &busy}, [](const v1::PlanProgress&) {});
      ASSERT_TRUE(again.ok()) << again.status();
      const v1::PlanPrograms& it = plan->programs();
      EXPECT_EQ(it.distinct() + it.halves(),
                it.profiled() + it.cached() + it.excluded() + it.not_reached() +
                    it.failed());
      EXPECT_LE(it.profiled(), selection::kMaxPrograms);
      excluded += plan->excluded_size();
      // Where the number of programs was used up, more would be asked for.
      if (plan->not_reached_size() > 0) continue;
      ASSERT_EQ(plan->excluded_size(), again->excluded_size());
      for (int i = 0; i < plan->excluded_size(); ++i) {
        EXPECT_EQ(plan->excluded(i).reason(), again->excluded(i).reason());
      }
      EXPECT_EQ(plan->lower_bound_seconds(), again->lower_bound_seconds());
    }
  }
  EXPECT_GT(excluded, 0);
  EXPECT_GT(healed, 0);
}

}  // namespace
}  // namespace meshwright::planning
