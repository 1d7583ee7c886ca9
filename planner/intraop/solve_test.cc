#include "planner/intraop/solve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <random>

#include "planner/intraop/testing/random_model.h"
#include "planner/layout/cheapest_path.h"

namespace meshwright::intraop {
namespace {

struct Found {
  bool any = false;
  int64_t time = 0;
};

// Resharding of one edge, searched again and summed here.
int64_t EdgeTime(const Edge& edge, const Strategy& from, const Strategy& to,
                 const Machine& machine) {
  layout::LayoutProblem problem;
  problem.shape = edge.dims;
  problem.elem_bytes = edge.elem_bytes;
  problem.mesh = machine.mesh;
  problem.links = machine.links;
  problem.source = MakeSpec(from, edge.from_indices);
  problem.target = MakeSpec(to, edge.to_indices);
  int64_t time = layout::FindCheapestPath(problem)->path->time.count();
  std::swap(problem.source, problem.target);
  if (edge.gradient) {
    time += layout::FindCheapestPath(problem)->path->time.count();
  }
  return time * edge.times;
}

// Every combination of strategies.
Found TryAll(const OpModel& model, const Request& request) {
  std::vector<std::vector<Strategy>> ways;
  for (const Operator& it : model.operators) {
    ways.push_back(ListStrategies(it, request.machine.mesh, false));
  }
  Found best;
  std::vector<Strategy> chosen(ways.size());
  const std::function<void(size_t)> visit = [&](size_t at) {
    if (at < ways.size()) {
      for (const Strategy& strategy : ways[at]) {
        chosen[at] = strategy;
        visit(at + 1);
      }
      return;
    }
    int64_t time = 0, held = 0, transient = 0;
    for (size_t i = 0; i < chosen.size(); ++i) {
      const problem::Config config =
          ComputeCost(model.operators[i], chosen[i], request.machine);
      time += config.time.count();
      held += config.persistent_bytes + config.saved_bytes;
      transient = std::max(transient, config.transient_bytes);
    }
    if (request.memory_limit_bytes.has_value() &&
        held + transient > *request.memory_limit_bytes) {
      return;
    }
    for (const Edge& edge : model.edges) {
      time +=
          EdgeTime(edge, chosen[edge.from], chosen[edge.to], request.machine);
    }
    if (!best.any || time < best.time) best = {true, time};
  };
  visit(0);
  return best;
}

TEST(SolveTest, SmallModelsAgreeWithEveryCombination) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const OpModel model = RandomModel(seed, 2 + static_cast<int>(seed % 4));
    Request request;
    request.machine = MakeMachine({seed % 2 == 0 ? 2 : 4});
    const auto answer = Solve(model, request);
    ASSERT_TRUE(answer.ok()) << answer.status();
    ASSERT_TRUE(answer->plan.has_value());
    ASSERT_EQ(answer->plan->time.count(), TryAll(model, request).time)
        << "seed " << seed;
    EXPECT_EQ(answer->lower_bound, answer->plan->time);
  }
}

TEST(SolveTest, ABudgetIsKeptAndTheBestThatFitsIsFound) {
  int bound = 0;
  int refused = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const OpModel model = RandomModel(seed, 2 + static_cast<int>(seed % 4));
    Request request;
    request.machine = MakeMachine({4});
    const auto free = Solve(model, request);
    request.memory_limit_bytes =
        free->plan->peak_bytes * static_cast<int64_t>(1 + seed % 9) / 10;
    const auto answer = Solve(model, request);
    ASSERT_TRUE(answer.ok()) << answer.status();
    const Found best = TryAll(model, request);
    ASSERT_EQ(answer->plan.has_value(), best.any) << "seed " << seed;
    if (!best.any) {
      ++refused;
      EXPECT_GT(answer->least_memory_bytes, request.memory_limit_bytes);
      continue;
    }
    ASSERT_EQ(answer->plan->time.count(), best.time) << "seed " << seed;
    EXPECT_LE(answer->plan->peak_bytes, request.memory_limit_bytes);
    bound += answer->plan->time > free->plan->time;
  }
  EXPECT_GT(bound, 5);
  EXPECT_GT(refused, 5);
}

TEST(SolveTest, NeverWorseThanDataParallel) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const OpModel model = RandomModel(seed, 30);
    for (const CostKind cost :
         {CostKind::kRoofline, CostKind::kCommunication}) {
      Request request;
      request.machine = MakeMachine({2, 4}, cost);
      request.max_strategies = seed % 2 == 0 ? 48 : 5;
      const auto answer = Solve(model, request);
      ASSERT_TRUE(answer.ok()) << answer.status();
      std::vector<Strategy> batch;
      for (const Operator& it : model.operators) {
        batch.push_back(ChooseDataParallel(it, request.machine.mesh));
      }
      const auto score = Score(model, request, batch);
      ASSERT_TRUE(score.ok()) << score.status();
      EXPECT_LE(answer->plan->time, score->time) << "seed " << seed;
    }
  }
}

TEST(SolveTest, WithoutTimeThereIsStillAPlanAndABound) {
  const search::Options at_once{
      .deadline = {.at = std::chrono::steady_clock::now()}};
  int quick = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const OpModel model = RandomModel(seed, 12);
    Request request;
    request.machine = MakeMachine({2, 2});
    const auto best = Solve(model, request);
    ASSERT_TRUE(best.ok()) << best.status();
    if (seed % 2 == 1) request.memory_limit_bytes = best->plan->peak_bytes;
    const auto answer = Solve(model, request, at_once);
    ASSERT_TRUE(answer.ok()) << answer.status();
    ASSERT_TRUE(answer->plan.has_value());
    EXPECT_LE(answer->lower_bound, best->plan->time);
    EXPECT_GE(answer->plan->time, best->plan->time);
    EXPECT_LE(answer->plan->peak_bytes,
              request.memory_limit_bytes.value_or(answer->plan->peak_bytes));
    const auto score = Score(model, request, answer->plan->strategies);
    ASSERT_TRUE(score.ok()) << score.status();
    EXPECT_EQ(score->time, answer->plan->time);
    quick += answer->solver == "one strategy each" ? 1 : 0;
  }
  EXPECT_GE(quick, 20);  // all without a limit
  Request none;
  none.machine = MakeMachine({2, 2});
  none.memory_limit_bytes = 1;
  const auto verdict = Solve(RandomModel(1, 12), none, at_once);
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_FALSE(verdict->plan.has_value());
  EXPECT_TRUE(verdict->least_memory_bytes.has_value());
}

TEST(SolveTest, AScoreIsThatOfTheAnswer) {
  const OpModel model = RandomModel(3, 12);
  Request request;
  request.machine = MakeMachine({4});
  const auto answer = Solve(model, request);
  const auto score = Score(model, request, answer->plan->strategies);
  ASSERT_TRUE(score.ok()) << score.status();
  EXPECT_EQ(score->time, answer->plan->time);
  EXPECT_EQ(score->peak_bytes, answer->plan->peak_bytes);
  EXPECT_EQ(score->communication, answer->plan->communication);
  EXPECT_EQ(score->resharding, answer->plan->resharding);
  std::vector<Strategy> odd = answer->plan->strategies;
  odd[0] = {7};
  EXPECT_EQ(Score(model, request, odd).status().code(),
            absl::StatusCode::kNotFound);
  odd.pop_back();
  EXPECT_EQ(Score(model, request, odd).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(SolveTest, AModelWithoutOperatorsHasAnEmptyPlan) {
  Request request;
  request.machine = MakeMachine({2});
  const auto answer = Solve({}, request);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_TRUE(answer->plan->strategies.empty());
}

}  // namespace
}  // namespace meshwright::intraop
