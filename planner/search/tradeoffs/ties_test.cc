#include "planner/search/tradeoffs/ties.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "planner/problem/allowed.h"
#include "planner/problem/evaluate.h"
#include "planner/problem/uncertainty.h"
#include "planner/search/testing/random_problem.h"

namespace meshwright::search {
namespace {

using problem::Choice;
using problem::Picoseconds;
using problem::PlanProblem;

problem::NoiseInterval Within(int64_t both) {
  return {Picoseconds(both), Picoseconds(both)};
}

PlanProblem WithNoise(uint64_t seed, const Kinds& kinds) {
  PlanProblem problem = RandomProblem(seed, kinds);
  std::mt19937_64 random(seed);
  for (problem::NodeType& type : problem.types) {
    for (problem::Config& it : type.configs) {
      it.noise = Within(random() % (it.time.count() / 2 + 1));
    }
  }
  return problem;
}

// Every plan of one configuration per type, in the order of the header.
std::optional<Choice> FirstThatTies(const PlanProblem& problem,
                                    Picoseconds longest) {
  std::vector<int64_t> copies(problem.types.size(), 0);
  std::vector<int> order;  // of types, by first node
  for (const problem::Node& node : problem.nodes) {
    if (copies[node.type] == 0) order.push_back(node.type);
    copies[node.type] += node.repeat;
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return copies[a] > copies[b]; });
  const auto limit = problem::ComputeUsableBytes(problem);
  std::vector<int> at(problem.types.size(), 0);
  while (true) {
    Choice choice;
    for (const problem::Node& node : problem.nodes) {
      choice.emplace_back(node.repeat, at[node.type]);
    }
    const auto evaluation = problem::Evaluate(problem, choice);
    if (evaluation.ok() && evaluation->time <= longest &&
        (!limit.has_value() || evaluation->peak_bytes <= *limit)) {
      return choice;
    }
    size_t i = order.size();
    while (i > 0) {
      const int type = order[i - 1];
      if (++at[type] < static_cast<int>(problem.types[type].configs.size())) {
        break;
      }
      at[type] = 0;
      --i;
    }
    if (i == 0) return std::nullopt;
  }
}

TEST(TiesTest, AgreesWithEnumeration) {
  int moved = 0;
  int stayed = 0;
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    const Kinds kinds = {.skips = seed % 2 == 0,
                         .tied = seed % 3 == 0,
                         .nulls = seed % 5 < 2,
                         .fixed = seed % 7 == 0,
                         .limit = seed % 4 == 0,
                         .nodes = 4};
    const PlanProblem problem = WithNoise(seed, kinds);
    const auto answer = Solve(problem);
    ASSERT_TRUE(answer.ok()) << answer.status();
    if (!answer->plan.has_value()) continue;
    const auto chosen = BreakTies(problem, *answer->plan, 1);
    ASSERT_TRUE(chosen.ok()) << chosen.status();
    const Picoseconds longest =
        answer->plan->time +
        std::min(problem::EstimateNoise(problem, answer->plan->choice)->above,
                 answer->plan->time);
    if (longest == answer->plan->time) continue;
    const auto wanted = FirstThatTies(problem, longest);
    EXPECT_EQ(chosen->choice, wanted.value_or(answer->plan->choice)) << seed;
    const auto evaluation = problem::Evaluate(problem, chosen->choice);
    EXPECT_EQ(chosen->time, evaluation->time);
    EXPECT_EQ(chosen->peak_bytes, evaluation->peak_bytes);
    ++(chosen->choice == answer->plan->choice ? stayed : moved);
  }
  EXPECT_GT(moved, 150);
  EXPECT_GT(stayed, 100);
}

// Layers of two ways that are a hair apart, this way or the other.
PlanProblem Layers(int64_t copies, int64_t first, int64_t second,
                   int64_t noise) {
  PlanProblem problem;
  problem.types = {{"layer", {{}, {}}}};
  problem.types[0].configs[0] = {.time = Picoseconds(first),
                                 .noise = Within(noise)};
  problem.types[0].configs[1] = {.time = Picoseconds(second),
                                 .noise = Within(noise)};
  problem.nodes = {{.type = 0, .repeat = copies}};
  return problem;
}

Plan ChoosePlan(const PlanProblem& problem, double max_loss = 1) {
  return *BreakTies(problem, *Solve(problem)->plan, max_loss);
}

TEST(TiesTest, WhicheverIsFasterByLessThanTheNoise) {
  for (int64_t copies : {1, 3, 500}) {
    EXPECT_EQ(ChoosePlan(Layers(copies, 1000, 1009, 10)).choice[0],
              std::vector<int>(copies, 0));
    EXPECT_EQ(ChoosePlan(Layers(copies, 1009, 1000, 10)).choice[0],
              std::vector<int>(copies, 0));
    EXPECT_EQ(ChoosePlan(Layers(copies, 1011, 1000, 10)).choice[0],
              std::vector<int>(copies, 1));
  }
}

TEST(TiesTest, NoMoreIsLostThanAllowed) {
  const PlanProblem unsure = Layers(2, 1030, 1000, 200);
  EXPECT_EQ(ChoosePlan(unsure, 0.03).choice[0], std::vector<int>({0, 0}));
  EXPECT_EQ(ChoosePlan(unsure, 0.02).choice[0], std::vector<int>({1, 1}));
}

TEST(TiesTest, ExactTimesDoNotTie) {
  EXPECT_EQ(ChoosePlan(Layers(2, 1001, 1000, 0)).choice[0],
            std::vector<int>({1, 1}));
}

TEST(TiesTest, WhatDoesNotFitDoesNotTie) {
  PlanProblem problem = Layers(2, 1009, 1000, 10);
  problem.types[0].configs[0].persistent_bytes = 8;
  problem.types[0].configs[1].persistent_bytes = 5;
  problem.memory_limit_bytes = 15;
  EXPECT_EQ(ChoosePlan(problem).choice[0], std::vector<int>({1, 1}));
  problem.memory_limit_bytes = 16;
  EXPECT_EQ(ChoosePlan(problem).choice[0], std::vector<int>({0, 0}));
}

// A plan that mixes gains more than the noise: nothing uniform ties.
TEST(TiesTest, AMixThatGainsMoreStays) {
  PlanProblem problem = Layers(4, 1100, 1000, 10);
  problem.types[0].configs[0].persistent_bytes = 1;
  problem.types[0].configs[1].persistent_bytes = 5;
  problem.memory_limit_bytes = 17;
  const Plan fastest = *Solve(problem)->plan;
  EXPECT_EQ(ChoosePlan(problem).choice, fastest.choice);
  EXPECT_NE(fastest.choice[0].front(), fastest.choice[0].back());
}

}  // namespace
}  // namespace meshwright::search
