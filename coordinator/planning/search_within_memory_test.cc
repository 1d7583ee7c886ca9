#include "coordinator/planning/search_within_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <random>
#include <stop_token>
#include <utility>
#include <vector>

#include "coordinator/problem/peak_timeline.h"
#include "planner/problem/evaluate.h"

namespace meshwright::planning {
namespace {

using problem::Config;
using problem::Picoseconds;

Config MakeConfig(int64_t picoseconds, int64_t saved, int64_t transient) {
  return {.time = Picoseconds(picoseconds),
          .saved_bytes = saved,
          .transient_bytes = transient};
}

// The first segment needs its transient when the second one holds nothing.
formulation::MeasuredProblem MakeStep(int64_t limit) {
  formulation::MeasuredProblem step;
  step.problem.types = {
      {"first", {MakeConfig(10, 20, 90), MakeConfig(30, 20, 40)}},
      {"second", {MakeConfig(10, 50, 10)}}};
  step.problem.nodes = {{.type = 0}, {.type = 1}};
  step.problem.memory_limit_bytes = limit;
  step.timeline = {{{90, 0}, {40, 0}}, {{10, 0}}};
  return step;
}

TEST(SearchWithinMemoryTest, APlanFitsByItsPeakThoughNoSumDoes) {
  const auto found = SearchWithinMemory(MakeStep(90));
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_TRUE(found->answer.plan.has_value());
  EXPECT_EQ(found->answer.plan->time, Picoseconds(40));
  EXPECT_EQ(found->answer.plan->peak_bytes, 80);
}

TEST(SearchWithinMemoryTest, WhereNoneFitsTheLeastMemoryIsAPeak) {
  const auto found = SearchWithinMemory(MakeStep(79));
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_FALSE(found->answer.plan.has_value());
  EXPECT_EQ(found->answer.least_memory_bytes, 80);
}

TEST(SearchWithinMemoryTest, ALimitBelowWhatTheSumMissesFitsNone) {
  formulation::MeasuredProblem step = MakeStep(1);
  step.timeline = {{{90, 90}, {40, 90}}, {{10, 0}}};
  const auto found = SearchWithinMemory(step);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_FALSE(found->answer.plan.has_value());
  EXPECT_GT(found->answer.least_memory_bytes, 1);
}

TEST(SearchWithinMemoryTest, RaisesTheLimitOfTheSum) {
  const auto found = SearchWithinMemory(MakeStep(130));
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_TRUE(found->answer.plan.has_value());
  EXPECT_EQ(found->answer.plan->time, Picoseconds(20));
  EXPECT_EQ(found->answer.plan->peak_bytes, 110);
  EXPECT_GE(*found->sum_limit_bytes, 160);
}

TEST(SearchWithinMemoryTest, LowersTheLimitWhereTheSumIsLessThanThePeak) {
  formulation::MeasuredProblem step = MakeStep(175);
  step.timeline = {{{90, 90}, {40, 10}}, {{10, 0}}};
  const auto found = SearchWithinMemory(step);
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_TRUE(found->answer.plan.has_value());
  EXPECT_EQ(found->answer.plan->time, Picoseconds(40));
  EXPECT_EQ(found->answer.plan->peak_bytes, 80);
}

// The fast plan has the least sum, and gradients that do not fit.
TEST(SearchWithinMemoryTest, FindsAPlanOfASmallerPeakAndALargerSum) {
  formulation::MeasuredProblem step;
  step.problem.types = {
      {"first", {MakeConfig(10, 20, 0), MakeConfig(30, 50, 0)}},
      {"second", {MakeConfig(10, 50, 10)}}};
  step.problem.nodes = {{.type = 0}, {.type = 1}};
  step.problem.memory_limit_bytes = 115;
  step.timeline = {{{0, 60}, {0, 0}}, {{10, 0}}};
  const auto found = SearchWithinMemory(step);
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_TRUE(found->answer.plan.has_value());
  EXPECT_EQ(found->answer.plan->time, Picoseconds(40));
  EXPECT_EQ(found->answer.plan->peak_bytes, 110);
}

// The plan of the least sum does not fit, and is slower than the one that does.
TEST(SearchWithinMemoryTest, TheBoundCoversAPlanWhoseSumIsBeyondTheLimit) {
  formulation::MeasuredProblem step;
  step.problem.types = {
      {"first", {MakeConfig(30, 60, 0), MakeConfig(10, 20, 90)}},
      {"second", {MakeConfig(10, 50, 10)}}};
  step.problem.nodes = {{.type = 0}, {.type = 1}};
  step.problem.memory_limit_bytes = 115;
  step.timeline = {{{0, 90}, {90, 0}}, {{10, 0}}};
  const auto found = SearchWithinMemory(step);
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_TRUE(found->answer.plan.has_value());
  EXPECT_EQ(found->answer.plan->time, Picoseconds(20));
  EXPECT_EQ(found->answer.plan->peak_bytes, 110);
  EXPECT_EQ(found->answer.lower_bound, Picoseconds(20));
  EXPECT_EQ(found->sum_limit_bytes, 160);
}

// The first segment only has gradients. The fast plan of the second one has
// gradients that do not fit beside them, the slow one saves as much instead.
formulation::MeasuredProblem MakeReducingStep() {
  formulation::MeasuredProblem step;
  step.problem.types = {
      {"embedding", {MakeConfig(0, 0, 0)}},
      {"layers", {MakeConfig(10, 200, 0), MakeConfig(30, 1900, 0)}}};
  step.problem.nodes = {{.type = 0}, {.type = 1}};
  step.problem.memory_limit_bytes = 2000;
  step.timeline = {{{.reduced = 800}}, {{.reduced = 300}, {}}};
  return step;
}

TEST(SearchWithinMemoryTest, SavesInsteadOfReducing) {
  const auto found = SearchWithinMemory(MakeReducingStep());
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_TRUE(found->answer.plan.has_value());
  EXPECT_EQ(found->answer.plan->time, Picoseconds(30));
  EXPECT_EQ(found->answer.plan->peak_bytes, 1900);
  EXPECT_EQ(found->answer.lower_bound, Picoseconds(30));
  EXPECT_EQ(found->sum_limit_bytes, 2000);
}

TEST(SearchWithinMemoryTest, TheLeastMemoryIsThatOfAnySearch) {
  formulation::MeasuredProblem step = MakeReducingStep();
  step.problem.memory_limit_bytes = 1800;
  const auto found = SearchWithinMemory(step);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_FALSE(found->answer.plan.has_value());
  EXPECT_EQ(found->answer.least_memory_bytes, 1900);
}

// On no edge of the hull of sums and gradients. The first configuration reduces
// too much for any plan that fits, the second one saves too much.
TEST(SearchWithinMemoryTest, FindsTheOnlyPlanThatFits) {
  formulation::MeasuredProblem step;
  step.problem.types = {
      {"embedding", {MakeConfig(0, 50, 0)}},
      {"layers",
       {MakeConfig(1, 0, 0), MakeConfig(2, 90, 0), MakeConfig(3, 49, 0)}}};
  step.problem.nodes = {{.type = 0}, {.type = 1}};
  step.problem.memory_limit_bytes = 100;
  step.timeline = {{{}}, {{.reduced = 70}, {.reduced = 20}, {.reduced = 49}}};
  const auto found = SearchWithinMemory(step);
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_TRUE(found->answer.plan.has_value());
  EXPECT_EQ(found->answer.plan->time, Picoseconds(3));
  EXPECT_EQ(found->answer.plan->peak_bytes, 99);
}

// Two of the four configurations are in no plan that fits, and the smallest
// plan has one of them.
TEST(SearchWithinMemoryTest, TheSmallestPlanIsSoughtAmongAll) {
  formulation::MeasuredProblem step;
  step.problem.types = {
      {"embedding", {MakeConfig(2, 101, 0), MakeConfig(1, 60, 0)}},
      {"layers", {MakeConfig(1, 0, 0), MakeConfig(2, 45, 0)}}};
  step.problem.nodes = {{.type = 0}, {.type = 1}};
  step.problem.memory_limit_bytes = 100;
  step.timeline = {{{}, {.reduced = 30}}, {{.reduced = 49}, {}}};
  const auto found = SearchWithinMemory(step);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_FALSE(found->answer.plan.has_value());
  EXPECT_LE(found->answer.least_memory_bytes, 105);
}

// With a token that has stopped: no search proves anything.
auto SearchStopped(const formulation::MeasuredProblem& step) {
  std::stop_source source;
  source.request_stop();
  return SearchWithinMemory(step, {.deadline = {.stop = source.get_token()}});
}

// The plan found has gradients that do not fit. That of fewest bytes beside it
// has a transient too large, and the stopped search does not look further.
TEST(SearchWithinMemoryTest, ALaterSearchWithoutAnAnswerLeavesTheVerdict) {
  formulation::MeasuredProblem step;
  step.problem.types = {
      {"segment",
       {MakeConfig(1, 10, 0), MakeConfig(2, 20, 200), MakeConfig(0, 200, 0)}}};
  step.problem.nodes = {{.type = 0}, {.type = 0}};
  step.problem.tables = {{3, 3, {}}};
  step.problem.tables[0].entries.assign(9, Picoseconds(0));
  step.problem.tables[0].entries[2].reset();
  step.problem.tables[0].entries[6].reset();
  step.problem.edges = {{0, 1, 0}};
  step.problem.memory_limit_bytes = 219;
  step.timeline = {{{.reduced = 100}, {.transient = 200}, {}}};
  const auto found = SearchStopped(step);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_FALSE(found->answer.plan.has_value());
  EXPECT_EQ(found->answer.least_memory_bytes, 400);
}

// The first segment's fast plan reduces too much. Beside its other one the
// tables forbid the small plans of the other two, and the stopped search proves
// nothing of what is left.
TEST(SearchWithinMemoryTest, TheSmallestPlanIsSoughtWhereASearchHasNoAnswer) {
  formulation::MeasuredProblem step;
  step.problem.types = {
      {"first", {MakeConfig(1, 10, 1), MakeConfig(2, 50, 1)}},
      {"second", {MakeConfig(1, 30, 1), MakeConfig(5, 0, 1)}}};
  step.problem.nodes = {{.type = 0}, {.type = 1}, {.type = 1}};
  step.problem.tables = {{2, 2, {}}, {2, 2, {}}};
  for (problem::Table& table : step.problem.tables) {
    table.entries.assign(4, Picoseconds(0));
  }
  step.problem.tables[0].entries[3].reset();
  step.problem.edges = {{0, 1, 0}, {0, 2, 0}, {1, 2, 1}};
  step.problem.memory_limit_bytes = 100;
  step.timeline = {{{.transient = 1, .reduced = 60}, {.transient = 1}},
                   {{.transient = 1}, {.transient = 1}}};
  const auto found = SearchStopped(step);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_FALSE(found->answer.plan.has_value());
  EXPECT_EQ(found->answer.least_memory_bytes, 111);
}

// Four segments of four configurations; the sum is what runs need.
formulation::MeasuredProblem DrawReducingStep(std::mt19937_64& random) {
  const auto draw = [&](int64_t below) {
    return static_cast<int64_t>(random() % below);
  };
  formulation::MeasuredProblem step;
  for (int n = 0; n < 4; ++n) {
    problem::NodeType type{"segment", {}};
    auto& timeline = step.timeline.emplace_back();
    for (int c = 0; c < 4; ++c) {
      Config config = MakeConfig(draw(100), draw(100), n == 3 ? draw(100) : 0);
      config.persistent_bytes = draw(25);
      timeline.push_back({.transient = config.transient_bytes,
                          .reduced = draw(60),
                          .copied = draw(config.persistent_bytes + 1)});
      type.configs.push_back(config);
    }
    step.problem.types.push_back(std::move(type));
    step.problem.nodes.push_back({.type = n});
  }
  step.problem.memory_limit_bytes = 100 + 2 * draw(100);
  return step;
}

// Of all 256 plans.
struct BestOfAll {
  std::optional<Picoseconds> time;  // of those that fit
  int64_t least_bytes = std::numeric_limits<int64_t>::max();
};

BestOfAll TryAllPlans(const formulation::MeasuredProblem& step) {
  BestOfAll best;
  for (int plan = 0; plan < 256; ++plan) {
    const problem::Choice choice = {
        {plan % 4}, {plan / 4 % 4}, {plan / 16 % 4}, {plan / 64}};
    const int64_t bytes = formulation::FindPeakBytes(step, choice);
    best.least_bytes = std::min(best.least_bytes, bytes);
    if (bytes > *step.problem.memory_limit_bytes) continue;
    const auto evaluation = problem::Evaluate(step.problem, choice);
    if (!evaluation.ok()) continue;
    best.time =
        std::min(best.time.value_or(evaluation->time), evaluation->time);
  }
  return best;
}

TEST(SearchWithinMemoryTest, FindsAPlanThatFitsWhereMostGradientsAreReduced) {
  std::mt19937_64 random(2);
  int fitting = 0;
  int missed = 0;
  for (int round = 0; round < 300; ++round) {
    const formulation::MeasuredProblem step = DrawReducingStep(random);
    const BestOfAll best = TryAllPlans(step);
    const auto found = SearchWithinMemory(step);
    ASSERT_TRUE(found.ok()) << found.status();
    const auto& plan = found->answer.plan;
    fitting += best.time.has_value();
    missed += best.time.has_value() && !plan.has_value();
    if (!plan.has_value()) {
      EXPECT_GE(*found->answer.least_memory_bytes, best.least_bytes) << round;
      continue;
    }
    ASSERT_TRUE(best.time.has_value()) << round;
    EXPECT_EQ(plan->peak_bytes, formulation::FindPeakBytes(step, plan->choice));
    EXPECT_LE(plan->peak_bytes, *step.problem.memory_limit_bytes) << round;
    EXPECT_GE(plan->time, *best.time) << round;
    EXPECT_LE(found->answer.lower_bound, *best.time) << round;
  }
  EXPECT_GT(fitting, 100);
  EXPECT_LE(missed * 20, fitting);
}

TEST(SearchWithinMemoryTest, NoPlanIsSlowerThanTheSumsAndEveryPlanFits) {
  std::mt19937_64 random(1);
  const auto draw = [&] { return static_cast<int64_t>(random() % 100); };
  int faster = 0;
  for (int round = 0; round < 300; ++round) {
    formulation::MeasuredProblem step;
    for (int n = 0; n < 4; ++n) {
      std::vector<Config> configs;
      for (int c = 0; c < 4; ++c) {
        configs.push_back(MakeConfig(draw(), draw(), draw()));
      }
      step.problem.nodes.push_back({.type = n});
      step.problem.types.push_back({"segment", configs});
      auto& timeline = step.timeline.emplace_back();
      for (const Config& it : configs) {
        timeline.push_back({.transient = it.transient_bytes});
      }
    }
    const int64_t limit = 100 + 2 * draw();
    step.problem.memory_limit_bytes = limit;
    const auto sum = search::Solve(step.problem);
    const auto found = SearchWithinMemory(step);
    ASSERT_TRUE(sum.ok() && found.ok()) << round;
    const auto& plan = found->answer.plan;
    if (sum->plan.has_value()) {
      ASSERT_TRUE(plan.has_value()) << round;
      EXPECT_LE(plan->time, sum->plan->time);
    }
    if (!plan.has_value()) continue;
    EXPECT_LE(found->answer.lower_bound, plan->time);
    EXPECT_EQ(plan->peak_bytes, formulation::FindPeakBytes(step, plan->choice));
    EXPECT_LE(plan->peak_bytes, limit);
    faster += !sum->plan.has_value() || plan->time < sum->plan->time;
  }
  EXPECT_GT(faster, 30);
}

}  // namespace
}  // namespace meshwright::planning
