// The plan that is there at once, against the oracle.
#include "planner/search/elimination/greedy.h"

#include <gtest/gtest.h>

#include <vector>

#include "planner/problem/evaluate.h"
#include "planner/search/testing/exhaustive.h"
#include "planner/search/testing/random_problem.h"

namespace meshwright::search {
namespace {

// The slots of a whole plan, and its cost as Greedy says.
struct Whole {
  Cost cost = 0;
  std::vector<int> slots;
};

Whole GreedyOfAll(const Graph& graph) {
  const Costs costs = TimeCosts(graph);
  PowersCache powers;
  RunMatrices matrices(graph, costs, powers);
  Whole whole;
  whole.slots.resize(graph.first_slot.back());
  for (const Component& component : Decompose(graph)) {
    const GreedyPlan plan = Greedy(graph, component, costs, matrices);
    whole.cost = Clamp(whole.cost + plan.cost);
    if (plan.cost >= kNever) continue;
    for (size_t i = 0; i < component.variables.size(); ++i) {
      whole.slots[graph.variables[component.variables[i]].slot] =
          plan.configs[i];
    }
    for (const int j : component.joins) {
      const Join& join = graph.joins[j];
      int64_t slot = graph.variables[join.from].slot;
      const int last = whole.slots[graph.variables[join.to].slot];
      for (const int config : matrices.Between(join, whole.slots[slot], last)) {
        whole.slots[++slot] = config;
      }
    }
  }
  return whole;
}

TEST(GreedyTest, CostIsThatOfItsPlan) {
  int plans = 0;
  for (int seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const problem::PlanProblem problem =
        RandomProblem(seed, {.skips = true,
                             .shuffled = seed % 2 == 0,
                             .tied = seed % 3 == 0,
                             .nulls = seed % 5 == 0,
                             .fixed = seed % 7 == 0,
                             .gaps = seed % 11 == 0,
                             .skeleton = static_cast<Skeleton>(seed % 4)});
    const Graph graph = BuildGraph(problem);
    const Exhaustive best = SolveExhaustively(problem);
    const Whole whole = GreedyOfAll(graph);
    if (!best.choice.has_value()) {
      ASSERT_EQ(whole.cost, kNever);
      continue;
    }
    if (whole.cost >= kNever) continue;
    const auto evaluation =
        problem::Evaluate(problem, ToChoice(problem, graph, whole.slots));
    ASSERT_TRUE(evaluation.ok()) << evaluation.status();
    ASSERT_EQ(evaluation->time.count(), whole.cost);
    ASSERT_GE(whole.cost, best.time.count());
    ++plans;
  }
  EXPECT_GT(plans, 800);
}

}  // namespace
}  // namespace meshwright::search
