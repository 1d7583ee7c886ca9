// Where memory is short: recomputation first, then groups.
#include "coordinator/planning/memory_pressure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "absl/strings/str_cat.h"
#include "coordinator/export/plan_choice.h"
#include "coordinator/jobs/testing/large_head.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/planning/recompute_candidates.h"
#include "coordinator/planning/score.h"
#include "coordinator/problem/memory_limit.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "planner/search/search.h"
#include "profiledb/store/testing/fake_profile_store.h"

namespace meshwright::planning {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

class MemoryPressureTest : public testing::Test {
 protected:
  MemoryPressureTest() {
    measurer_.machine = 1;
    request_.set_hlo_module(segmenter::ReadSample("gpt2_4l"));
    for (int64_t size : {1, 2}) request_.mutable_mesh()->add_shape(size);
    const auto step = OpenStep(request_, &measurer_);
    EXPECT_TRUE(step.ok()) << step.status();
    measurer_.label = absl::StrCat(
        "type ", step->analysis.type_of_segment.back().value(), ":");
  }

  MeasuredStep Measure(const v1::PlanRequest& request) {
    auto step = MeasureStep(request, {&store_, &measurer_},
                            [](const v1::PlanProgress&) {});
    EXPECT_TRUE(step.ok()) << step.status();
    return *std::move(step);
  }

  v1::Plan Plan(v1::PlanRequest request, int64_t limit) {
    request.set_device_memory_bytes(limit);
    auto plan = MakePlan(request, {&store_, &measurer_},
                         [](const v1::PlanProgress&) {});
    EXPECT_TRUE(plan.ok()) << plan.status();
    return *plan;
  }

  // Without groups.
  int64_t MinBytesAlone() {
    v1::PlanRequest request = request_;
    request.mutable_strategies()->add_open("recompute");
    problem::PlanProblem problem = Measure(request).measured.problem;
    problem.memory_limit_bytes = 1;
    return *search::Solve(problem)->least_memory_bytes;
  }

  store::FakeProfileStore store_;
  jobs::LargeHead measurer_;
  v1::PlanRequest request_;
};

TEST_F(MemoryPressureTest, GroupsGoWhereRecomputationAloneDoesNot) {
  const int64_t alone = MinBytesAlone();
  const v1::Plan none = Plan(request_, 1000);
  EXPECT_FALSE(none.feasible());
  EXPECT_LT(*formulation::FindUsableBytes(none.least_memory_bytes()), alone);
  const int64_t limit = none.least_memory_bytes();
  const v1::Plan plan = Plan(request_, limit);
  ASSERT_TRUE(plan.feasible());
  EXPECT_LE(plan.predicted().peak_bytes(), limit);
  EXPECT_THAT(plan.strategies().open(), ElementsAre("recompute"));
  EXPECT_THAT(plan.strategies().grouped(), Not(IsEmpty()));
  EXPECT_LE(plan.strategies().grouped_size(), kMaxGrouped);
  int chained = 0;
  for (int s = 0; s < plan.segments_size(); ++s) {
    if (!plan.segments(s).chained()) continue;
    ++chained;
    EXPECT_TRUE(plan.segments(s).recompute());
    EXPECT_TRUE(plan.segments(s - 1).recompute());
    EXPECT_EQ(plan.segments(s).type(), plan.segments(s - 1).type());
  }
  EXPECT_GT(chained, 0);
}

// A second reading of a plan finds the same groups, and the same figures.
TEST_F(MemoryPressureTest, APlanWithGroupsIsFoundAgain) {
  const v1::Plan plan =
      Plan(request_, Plan(request_, 1000).least_memory_bytes());
  v1::PlanRequest again = request_;
  *again.mutable_strategies() = plan.strategies();
  again.set_no_wait(true);
  const MeasuredStep step = Measure(again);
  const auto choice = exporting::FindChoice(plan, step.analysis, step.space);
  ASSERT_TRUE(choice.ok()) << choice.status();
  const auto score = ScoreChoice(step, *choice);
  ASSERT_TRUE(score.ok()) << score.status();
  EXPECT_DOUBLE_EQ(score->seconds, plan.predicted().step_seconds());
  EXPECT_EQ(score->peak_bytes, plan.predicted().peak_bytes());
}

// One each: the first of a group does what those inside do, the last what one
// alone does.
TEST_F(MemoryPressureTest, GroupsCostFewProgramsMore) {
  const v1::Plan none = Plan(request_, 1000);
  EXPECT_THAT(measurer_.in_groups, Not(IsEmpty()));
  EXPECT_LE(measurer_.in_groups.size(), none.strategies().grouped_size());
  EXPECT_EQ(none.programs().distinct() + none.programs().halves(),
            none.programs().profiled() + none.programs().cached() +
                none.programs().excluded() + none.programs().not_reached() +
                none.programs().failed());
}

// A look at groups that brings no better plan, too.
TEST_F(MemoryPressureTest, WhatEveryLookMeasuredIsCounted) {
  const int64_t min_bytes = Plan(request_, 1000).least_memory_bytes();
  const int64_t max_bytes = formulation::FindDeviceMemoryBytes(
      Plan(request_, 0).predicted().peak_bytes());
  bool is_in_vain = false;
  for (const int percent : {60, 90, 30, 10}) {
    if (is_in_vain) break;
    store::FakeProfileStore store;
    jobs::LargeHead measurer;
    measurer.machine = 1;
    measurer.label = measurer_.label;
    v1::PlanRequest request = request_;
    request.set_device_memory_bytes(min_bytes +
                                    (max_bytes - min_bytes) / 100 * percent);
    const auto plan =
        MakePlan(request, {&store, &measurer}, [](const v1::PlanProgress&) {});
    ASSERT_TRUE(plan.ok()) << plan.status();
    const v1::PlanPrograms& programs = plan->programs();
    EXPECT_EQ(programs.profiled(), measurer.programs) << percent;
    EXPECT_EQ(programs.distinct() + programs.halves(),
              programs.profiled() + programs.cached() + programs.excluded() +
                  programs.not_reached() + programs.failed());
    is_in_vain =
        !measurer.in_groups.empty() && plan->strategies().grouped().empty();
  }
  EXPECT_TRUE(is_in_vain);  // or no limit tells
}

TEST_F(MemoryPressureTest,
       WhoOpensOtherSwitchesOrForbidsRecomputationGetsNone) {
  v1::PlanRequest request = request_;
  request.mutable_strategies()->add_open("optimizer-sharded");
  EXPECT_THAT(Plan(request, 1000).strategies().grouped(), IsEmpty());
  request = request_;
  v1::BlockRule& rule = *request.mutable_strategies()->add_blocks();
  rule.set_blocks("all");
  rule.add_strategies("recompute");
  rule.set_forbid(true);
  EXPECT_THAT(Plan(request, 1000).strategies().grouped(), IsEmpty());
}

// Four segments that must all differ in one of three configurations: a search
// that is stopped does not know whether a plan without the limit is faster.
TEST(WidenForMemoryTest, WithoutAnAnswerMemoryIsNotShort) {
  MeasuredStep step;
  problem::PlanProblem& problem = step.measured.problem;
  const problem::Config config = {.time = problem::Picoseconds(1)};
  problem.types = {{"segment", {config, config, config}}};
  problem.tables = {{3, 3, {}}};
  problem.tables[0].entries.assign(9, problem::Picoseconds(0));
  for (const int same : {0, 4, 8}) problem.tables[0].entries[same].reset();
  for (int b = 0; b < 4; ++b) {
    problem.nodes.push_back({.type = 0});
    for (int a = 0; a < b; ++a) problem.edges.push_back({a, b, 0});
  }
  problem.memory_limit_bytes = 100;
  v1::Plan plan;
  plan.set_feasible(true);
  std::stop_source source;
  source.request_stop();
  const auto wider = WidenForMemory(v1::PlanRequest(), step, plan,
                                    {.deadline = {.stop = source.get_token()}});
  ASSERT_TRUE(wider.ok()) << wider.status();
  EXPECT_FALSE(wider->has_value());
}

TEST_F(MemoryPressureTest, EnoughMemoryAsksForNothing) {
  const v1::Plan free = Plan(request_, 0);
  const v1::Plan plan =
      Plan(request_,
           formulation::FindDeviceMemoryBytes(free.predicted().peak_bytes()));
  EXPECT_THAT(plan.strategies().open(), IsEmpty());
  EXPECT_THAT(plan.strategies().grouped(), IsEmpty());
}

}  // namespace
}  // namespace meshwright::planning
