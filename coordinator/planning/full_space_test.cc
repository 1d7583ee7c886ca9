// Few programs are measured, and the plan is that of the full space.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "coordinator/estimation/margin.h"
#include "coordinator/export/baselines.h"
#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/planning/score.h"
#include "coordinator/problem/memory_limit.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/selection/selection.h"
#include "profiledb/store/testing/fake_profile_store.h"

namespace meshwright::planning {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FullSpaceTest : public testing::Test {
 protected:
  static v1::PlanRequest Request(const std::string& model,
                                 bool full_space = false) {
    v1::PlanRequest request;
    request.set_hlo_module(segmenter::ReadSample(model));
    for (int64_t size : {1, 2}) request.mutable_mesh()->add_shape(size);
    request.set_full_space(full_space);
    return request;
  }

  v1::Plan Plan(const v1::PlanRequest& request) {
    auto plan = MakePlan(request, {&store_, &measurer_},
                         [](const v1::PlanProgress&) {});
    EXPECT_TRUE(plan.ok()) << plan.status();
    return *plan;
  }

  // The same machine with nothing known yet.
  v1::Plan FullPlan(v1::PlanRequest request) {
    request.set_full_space(true);
    store::FakeProfileStore empty;
    jobs::FakeMeasurer measurer;
    measurer.machine = measurer_.machine;
    measurer.noise = measurer_.noise;
    measurer.interaction = measurer_.interaction;
    auto plan =
        MakePlan(request, {&empty, &measurer}, [](const v1::PlanProgress&) {});
    EXPECT_TRUE(plan.ok()) << plan.status();
    return *plan;
  }

  // Of what the search found, whatever ties with it.
  static double FastestSeconds(const v1::Plan& plan) {
    return plan.has_tie() ? plan.tie().fastest_seconds()
                          : plan.predicted().step_seconds();
  }

  store::FakeProfileStore store_;
  jobs::FakeMeasurer measurer_;
};

struct Machine {
  const char* model;
  uint64_t seed;
  double tolerance = 0;  // of many types, when 60 programs are not enough
};

class MachinesTest : public FullSpaceTest,
                     public testing::WithParamInterface<Machine> {
 protected:
  void SetUp() override { measurer_.machine = GetParam().seed; }

  // Of the plan of few programs over that of all: both.
  std::pair<v1::Plan, v1::Plan> ExpectLossWithin(double share) {
    const v1::Plan few = Plan(Request(GetParam().model));
    const v1::Plan all = FullPlan(Request(GetParam().model));
    EXPECT_LE(measurer_.programs, selection::kMaxPrograms);
    EXPECT_LE(FastestSeconds(few), FastestSeconds(all) * (1 + share));
    return {few, all};
  }
};

TEST_P(MachinesTest, SixtyProgramsGiveThePlanOfAll) {
  const v1::Plan few = Plan(Request(GetParam().model));
  const v1::Plan all = FullPlan(Request(GetParam().model));
  EXPECT_LE(measurer_.programs, selection::kMaxPrograms);
  EXPECT_EQ(few.programs().profiled(), measurer_.programs);
  if (GetParam().tolerance > 0) {
    EXPECT_LE(few.predicted().step_seconds(),
              all.predicted().step_seconds() * (1 + GetParam().tolerance));
  } else {
    EXPECT_DOUBLE_EQ(few.predicted().step_seconds(),
                     all.predicted().step_seconds());
    for (int s = 0; s < few.segments_size(); ++s) {
      EXPECT_EQ(few.segments(s).describe(), all.segments(s).describe()) << s;
    }
  }
  const v1::PlanPrograms& programs = few.programs();
  EXPECT_GT(programs.excluded() + programs.not_reached(), 0);
  EXPECT_EQ(programs.distinct(), all.programs().profiled());
  EXPECT_EQ(programs.distinct() + programs.halves(),
            programs.profiled() + programs.cached() + programs.excluded() +
                programs.not_reached() + programs.failed());
  EXPECT_EQ(few.not_reached().empty(), programs.not_reached() == 0);
  EXPECT_LE(few.lower_bound_seconds(), FastestSeconds(all) * (1 + 1e-9));
  EXPECT_NEAR(few.gap(),
              1 - few.lower_bound_seconds() / few.predicted().step_seconds(),
              1e-9);
}

TEST_P(MachinesTest, NoiseCostsNoMoreThanItself) {
  measurer_.noise = 0.02;
  ExpectLossWithin(0.01);
}

// Halves do not tell what their whole costs then.
TEST_P(MachinesTest, NeighboursThatInteractCostLittle) {
  measurer_.interaction = 0.1;
  const auto [few, all] = ExpectLossWithin(0.03);
  EXPECT_LE(few.lower_bound_seconds(), FastestSeconds(all) * (1 + 1e-9));
}

TEST_P(MachinesTest, AMemoryLimitDoesNotChangeThat) {
  const v1::Plan fastest = Plan(Request(GetParam().model));
  v1::PlanRequest request = Request(GetParam().model);
  request.set_device_memory_bytes(1000);
  const int64_t min_bytes = FullPlan(request).least_memory_bytes();
  EXPECT_LE(Plan(request).least_memory_bytes(), min_bytes * 1.01);
  request.set_device_memory_bytes(
      (min_bytes +
       formulation::FindDeviceMemoryBytes(fastest.predicted().peak_bytes())) /
      2);
  const v1::Plan few = Plan(request);
  const v1::Plan all = FullPlan(request);
  ASSERT_TRUE(few.feasible());
  EXPECT_LE(few.predicted().peak_bytes(), request.device_memory_bytes());
  EXPECT_LE(few.predicted().step_seconds(),
            all.predicted().step_seconds() * 1.01);
}

INSTANTIATE_TEST_SUITE_P(
    Models, MachinesTest,
    testing::Values(Machine{"llama_2l", 1}, Machine{"llama_2l", 2},
                    Machine{"gpt2_2l", 3}, Machine{"gpt2_2l", 4},
                    Machine{"bert_2l", 5}, Machine{"bert_2l", 6},
                    Machine{"moe_2l", 7}, Machine{"moe_2l", 8},
                    Machine{"t5_tiny", 9}, Machine{"albert_tiny", 10},
                    Machine{"albert_4l", 13}, Machine{"accumulate_tiny", 11},
                    Machine{"scan_tiny", 12}, Machine{"whisper_tiny", 14},
                    Machine{"whisper_tiny", 15}),
    [](const auto& info) {
      return info.param.model + std::string("_") +
             std::to_string(info.param.seed);
    });

struct OpenedModel {
  const char* name;
  double tolerance = 0.02;  // under a memory limit
};

class OpenedTest : public FullSpaceTest,
                   public testing::WithParamInterface<OpenedModel> {
 protected:
  OpenedTest() { measurer_.machine = 21; }

  static v1::PlanRequest Opened() {
    v1::PlanRequest request = Request(GetParam().name);
    for (const char* it : {"fully-sharded", "optimizer-sharded", "sequence"}) {
      request.mutable_strategies()->add_open(it);
    }
    return request;
  }
};

TEST_P(OpenedTest, TwiceAsManyProgramsGiveThePlanOfAll) {
  const v1::Plan few = Plan(Opened());
  EXPECT_LE(measurer_.programs, selection::kMaxProgramsWithSwitches);
  EXPECT_DOUBLE_EQ(few.predicted().step_seconds(),
                   FullPlan(Opened()).predicted().step_seconds());
}

// Where memory is short, what the switches save decides.
TEST_P(OpenedTest, AMemoryLimitIsMetAlmostAsFast) {
  const v1::Plan fastest = FullPlan(Opened());
  v1::PlanRequest request = Opened();
  request.set_device_memory_bytes(1000);
  const int64_t min_bytes = FullPlan(request).least_memory_bytes();
  request.set_device_memory_bytes(
      (3 * min_bytes +
       formulation::FindDeviceMemoryBytes(fastest.predicted().peak_bytes())) /
      4);
  const v1::Plan few = Plan(request);
  EXPECT_LE(measurer_.programs, selection::kMaxProgramsWithSwitches);
  ASSERT_TRUE(few.feasible());
  EXPECT_LE(few.predicted().step_seconds(),
            FullPlan(request).predicted().step_seconds() *
                (1 + GetParam().tolerance));
}

INSTANTIATE_TEST_SUITE_P(Models, OpenedTest,
                         testing::Values(OpenedModel{"llama_2l"},
                                         OpenedModel{"t5_tiny"},
                                         OpenedModel{"whisper_tiny"},
                                         OpenedModel{"albert_tiny"},
                                         OpenedModel{"albert_4l"}),
                         [](const auto& info) { return info.param.name; });

TEST_F(FullSpaceTest, TheNextPlanAndADeeperOneMeasureNothing) {
  measurer_.machine = 1;
  for (const char* model : {"gpt2", "moe"}) {
    const v1::Plan first = Plan(Request(std::string(model) + "_2l"));
    const int measured = measurer_.programs;
    const v1::Plan again = Plan(Request(std::string(model) + "_2l"));
    const v1::Plan deeper = Plan(Request(std::string(model) + "_4l"));
    EXPECT_EQ(measurer_.programs, measured) << model;
    EXPECT_EQ(again.programs().cached(),
              first.programs().cached() + first.programs().profiled());
    for (const v1::Plan* it : {&again, &deeper}) {
      EXPECT_EQ(it->programs().excluded(), first.programs().excluded());
      EXPECT_EQ(it->programs().not_reached(), first.programs().not_reached());
    }
    ASSERT_EQ(again.excluded_size(), first.excluded_size());
    for (int i = 0; i < again.excluded_size(); ++i) {
      EXPECT_EQ(again.excluded(i).reason(), first.excluded(i).reason());
    }
  }
}

TEST_F(FullSpaceTest, EveryVerdictHoldsItsNumbers) {
  measurer_.machine = 2;
  const v1::Plan plan = Plan(Request("llama_2l"));
  ASSERT_GT(plan.excluded_size(), 0);
  for (const v1::PlanExcluded& it : plan.excluded()) {
    EXPECT_FALSE(it.rival().empty());
    EXPECT_GE(it.estimate_seconds() * (1 - it.margin()),
              it.rival_seconds() + it.resharding_seconds() - 1e-9)
        << it.reason();
    EXPECT_THAT(it.reason(), HasSubstr(it.rival()));
  }
  for (const v1::PlanNotReached& it : plan.not_reached()) {
    EXPECT_GT(it.estimate_seconds(), 0) << it.describe();
    EXPECT_GT(it.margin(), 0) << it.describe();
  }
  ASSERT_EQ(plan.estimates_size(), 1);
  EXPECT_TRUE(plan.estimates(0).from_halves());
  EXPECT_EQ(plan.estimates(0).configurations(), 81);
  EXPECT_GE(plan.estimates(0).margin(), estimation::kMinMargin);
}

TEST_F(FullSpaceTest, ATypeIsEstimatedFromItsProxy) {
  measurer_.machine = 4;
  const v1::Plan plan = Plan(Request("t5_tiny"));
  std::set<std::pair<int, int>> proxies;
  for (const v1::PlanEstimates& it : plan.estimates()) {
    if (it.has_from_type()) proxies.emplace(it.type(), it.from_type());
  }
  // The encoder's last piece from the others', cross from self attention.
  EXPECT_THAT(proxies, testing::ElementsAre(std::pair(3, 2), std::pair(4, 1)));
}

TEST_F(FullSpaceTest, BaselinesAreNeverPruned) {
  measurer_.machine = 3;
  for (const char* model : {"llama_2l", "bert_2l"}) {
    const auto step = MeasureStep(Request(model), {&store_, &measurer_},
                                  [](const v1::PlanProgress&) {});
    ASSERT_TRUE(step.ok()) << step.status();
    for (const auto& it :
         exporting::MakeBaselines(step->analysis, step->space)) {
      EXPECT_TRUE(ScoreChoice(*step, it.choice).ok()) << model << it.name;
    }
  }
}

TEST_F(FullSpaceTest, RivalsAreTimedTogether) {
  measurer_.machine = 1;
  Plan(Request("llama_2l"));
  // Halves and resharding first, then the configurations.
  ASSERT_GE(measurer_.batches.size(), 2u);
  EXPECT_LE(measurer_.batches.size(), 4u);
  EXPECT_GE(measurer_.batches[1], selection::kMinMeasuredWhole);
}

TEST_F(FullSpaceTest, WhatTheStoreHoldsExcludesWithoutMeasuring) {
  measurer_.machine = 1;
  Plan(Request("llama_2l"));
  v1::PlanRequest request = Request("llama_2l");
  request.set_no_wait(true);
  const int measured = measurer_.programs;
  const v1::Plan plan = Plan(request);
  EXPECT_EQ(measurer_.programs, measured);
  EXPECT_GT(plan.programs().excluded(), 0);
}

TEST_F(FullSpaceTest, AfterTheFullSpaceThereIsNothingToExclude) {
  measurer_.machine = 1;
  Plan(Request("llama_2l", true));
  const int measured = measurer_.programs;
  const v1::Plan plan = Plan(Request("llama_2l"));
  EXPECT_EQ(measurer_.programs, measured);
  EXPECT_EQ(plan.programs().excluded(), 0);
  EXPECT_EQ(plan.programs().not_reached(), 0);
  EXPECT_EQ(plan.programs().halves(), 0);
}

TEST_F(FullSpaceTest, TheStoreKeepsMeasurementsOnly) {
  measurer_.machine = 1;
  const v1::Plan few = Plan(Request("llama_2l"));
  EXPECT_FALSE(store_.Count()->profiles.contains(v1::PRUNED));
  const v1::Plan all = Plan(Request("llama_2l", true));
  EXPECT_EQ(all.programs().profiled(),
            few.programs().excluded() + few.programs().not_reached());
}

TEST_F(FullSpaceTest, WhatWasPrunedElsewhereIsDecidedAgain) {
  measurer_.machine = 1;
  const auto step = MeasureStep(Request("llama_2l"), {&store_, &measurer_},
                                [](const v1::PlanProgress&) {});
  ASSERT_TRUE(step.ok()) << step.status();
  store::FakeProfileStore other;
  for (const v1::Program& program : step->space.programs) {
    v1::ProfileResult row;
    row.set_key(program.key());
    row.set_outcome(v1::PRUNED);
    other.Plant(row, {});  // as stores of version 1 have them
  }
  jobs::FakeMeasurer measurer;
  measurer.machine = 1;
  const auto plan = MakePlan(Request("llama_2l"), {&other, &measurer},
                             [](const v1::PlanProgress&) {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(measurer.programs, measurer_.programs);
}

TEST_F(FullSpaceTest, WhatAHalfCannotDoTheWholeIsNotAsked) {
  measurer_.machine = 1;
  measurer_.fails = {1};  // the first half comes first
  const v1::Plan plan = Plan(Request("llama_2l"));
  EXPECT_THAT(plan.notes(), Contains(HasSubstr("half")));
  EXPECT_GT(plan.failed_size(), 0);
  EXPECT_LT(plan.failed_size(), 10);  // its nine, less the baselines'
  for (const v1::PlanFailed& it : plan.failed()) {
    EXPECT_THAT(it.reason(), HasSubstr("halves failed"));
  }
  // And the half.
  EXPECT_EQ(plan.programs().failed(), plan.failed_size() + 1);
}

// The estimate of one that failed excludes no others, and none waits for it.
TEST_F(FullSpaceTest, WhatFailsKeepsNoOtherFromBeingMeasured) {
  constexpr segmenter::SegmentTypeId kLayer(1);
  for (const uint64_t machine : {1, 2, 3}) {
    jobs::FakeMeasurer measurer;
    measurer.machine = machine;
    std::set<std::string> failing;
    measurer.alter = [&](const v1::RunnerRequest&, v1::ProfileResult& row) {
      if (!failing.contains(row.key())) return;
      row.clear_measurement();
      row.set_outcome(v1::COMPILE_FAILED);
      row.set_reason("made to fail");
    };
    const auto plan = [&](bool full_space) {
      store::FakeProfileStore empty;
      measurer.programs = 0;
      const auto made =
          MakePlan(Request("llama_2l", full_space), {&empty, &measurer},
                   [](const v1::PlanProgress&) {});
      EXPECT_TRUE(made.ok()) << made.status();
      return made.value_or(v1::Plan());
    };
    store::FakeProfileStore whole;
    const auto step =
        MeasureStep(Request("llama_2l", true), {&whole, &measurer},
                    [](const v1::PlanProgress&) {});
    ASSERT_TRUE(step.ok()) << step.status();
    const auto& layers = step->space.types[kLayer].configurations;
    ASSERT_EQ(layers.size(), 81u);
    std::set<std::pair<int64_t, std::string>> fastest;
    for (const space::Configuration& it : layers) {
      const std::string& key = step->space.programs[*it.program].key();
      fastest.emplace(step->results.at(key).measurement().minimum_ns(), key);
    }
    for (const size_t failures : {1, 4, 12}) {
      auto next = fastest.begin();
      for (; failing.size() < failures; ++next) failing.insert(next->second);
      const v1::Plan all = plan(/*full_space=*/true);
      const v1::Plan few = plan(/*full_space=*/false);
      if (few.not_reached().empty()) {
        EXPECT_DOUBLE_EQ(FastestSeconds(few), FastestSeconds(all));
      } else {
        // The number of programs is used up indeed.
        EXPECT_EQ(measurer.programs, selection::kMaxPrograms) << machine;
      }
    }
  }
}

TEST_F(FullSpaceTest, ProgramsThatTellNothingOfOneAnotherAreLeftOutWithANote) {
  const v1::Plan plan = Plan(Request("llama_2l"));  // times made from keys
  EXPECT_LE(measurer_.programs, selection::kMaxPrograms);
  EXPECT_THAT(plan.notes(), Contains(HasSubstr("--full-space")));
  // Without them, the plan is no longer proven optimal.
  EXPECT_GT(plan.not_reached_size(), 0);
  EXPECT_GT(plan.gap(), 0);
  const int measured = measurer_.programs;
  Plan(Request("llama_2l"));
  EXPECT_EQ(measurer_.programs, measured);
}

}  // namespace
}  // namespace meshwright::planning
