// A settled graph against the graph it came from.
#include "planner/search/settle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "planner/search/blocks.h"
#include "planner/search/improve.h"
#include "planner/search/min_sum.h"
#include "planner/search/model.h"
#include "planner/search/random_problem.h"

namespace meshwright::search {
namespace {

using problem::Picoseconds;
using problem::PlanProblem;

const Until kOn = [] { return false; };

Graph RandomGraph(int seed) {
  return BuildGraph(
      RandomProblem(seed, {.skips = true,
                           .shuffled = seed % 2 == 0,
                           .tied = seed % 3 == 0,
                           .nulls = seed % 2 == 1,
                           .gaps = seed % 5 == 0,
                           .skeleton = static_cast<Skeleton>(seed % 4),
                           .nodes = 6,
                           .copies = 12}));
}

bool IsOfRun(const Graph& graph, int v) {
  return std::any_of(graph.joins.begin(), graph.joins.end(),
                     [v](const Join& join) {
                       return join.is_run && (join.from == v || join.to == v);
                     });
}

Cost TimeOf(const Model& model, const std::vector<int>& slots) {
  const std::vector<int> places = PlacesOf(model, slots);
  return places.empty() ? kNever : Draft(model, places).time();
}

Cost LeastOf(const Graph& graph) {
  return MinSum(graph, Decompose(graph), TimeCosts(graph), {}, kOn).cost;
}

TEST(SettleTest, KeepsTimeAndBytesOfEveryPlan) {
  int settled_joins = 0;
  for (int seed = 0; seed < 200; ++seed) {
    const Graph graph = RandomGraph(seed);
    const Model whole = LaidOutModel(graph);
    std::mt19937_64 random(seed);
    for (int v = 0; v < static_cast<int>(graph.variables.size()); ++v) {
      if (IsOfRun(graph, v)) continue;
      const Variable& variable = graph.variables[v];
      const UnaryKind& kind = graph.unaries[variable.unary];
      Cost least = kNever;
      for (int c = 0; c < static_cast<int>(kind.time.size()); ++c) {
        const Graph settled = Settle(graph, v, c);
        settled_joins += static_cast<int>(graph.joins.size()) -
                         static_cast<int>(settled.joins.size());
        ASSERT_TRUE(std::is_sorted(settled.first_slot.begin(),
                                   settled.first_slot.end()));
        ASSERT_EQ(settled.first_slot.back(), graph.first_slot.back());
        const Model model = LaidOutModel(settled);
        for (int i = 0; i < 20; ++i) {
          std::vector<int> slots;
          for (size_t n = 0; n < graph.node_unary.size(); ++n) {
            const auto& own = graph.unaries[graph.node_unary[n]];
            for (auto s = graph.first_slot[n]; s < graph.first_slot[n + 1];
                 ++s) {
              slots.push_back(static_cast<int>(random() % own.time.size()));
            }
          }
          slots[variable.slot] = c;
          ASSERT_EQ(TimeOf(model, slots), TimeOf(whole, slots)) << seed;
          const Footprint before = FootprintOf(graph, slots);
          const Footprint after = FootprintOf(settled, slots);
          ASSERT_EQ(after.bytes, before.bytes) << seed;
          ASSERT_EQ(after.transient, before.transient) << seed;
        }
        least = std::min(least, LeastOf(settled));
      }
      ASSERT_EQ(least, LeastOf(graph)) << seed;
    }
  }
  EXPECT_GT(settled_joins, 1000);
}

TEST(SettleTest, WhatIsChosenLeavesPaths) {
  int chosen = 0;
  for (int seed = 0; seed < 400; ++seed) {
    const Graph graph = RandomGraph(seed);
    const auto components = Decompose(graph);
    const std::vector<int> variables = VariablesToSettle(graph, components, 5);
    if (variables.empty()) continue;
    ++chosen;
    const std::vector<Graph> settled = SettleAll(graph, variables);
    ASSERT_LE(settled.size(), 5u);
    Cost least = kNever;
    for (const Graph& part : settled) {
      for (const Component& component : Decompose(part)) {
        ASSERT_TRUE(component.path.has_value()) << seed;
      }
      least = std::min(least, LeastOf(part));
    }
    ASSERT_EQ(least, LeastOf(graph)) << seed;
  }
  EXPECT_GT(chosen, 50);
}

// Layers that are nodes of their own, all reading one hub: settled, they fold.
TEST(SettleTest, LayersThatReadAHubBecomeOneBlock) {
  constexpr int kLayers = 30;
  PlanProblem problem;
  problem.types = {{"hub", {{Picoseconds(1), 1}, {Picoseconds(2), 0}}},
                   {"layer", {{Picoseconds(3), 5}, {Picoseconds(4), 1}}}};
  problem.tables = {{2, 2, {}}};
  for (int i = 0; i < 4; ++i) {
    problem.tables[0].entries.push_back(Picoseconds(i));
  }
  problem.nodes = {{.type = 0}};
  for (int n = 1; n <= kLayers; ++n) {
    problem.nodes.push_back({.type = 1});
    if (n > 1) problem.edges.push_back({n - 1, n, 0});
    problem.edges.push_back({0, n, 0});
  }
  const Graph graph = BuildGraph(problem);
  const auto variables = VariablesToSettle(graph, Decompose(graph), 10);
  ASSERT_EQ(variables, std::vector<int>({0}));
  for (const Graph& settled : SettleAll(graph, variables)) {
    const auto line = ToLine(settled, Decompose(settled));
    ASSERT_TRUE(line.has_value());
    ASSERT_EQ(line->size(), 2u);
    EXPECT_EQ(line->at(1).copies, kLayers);
  }
}

// Every pair joined: no two variables are enough.
TEST(SettleTest, LeavesWhatTakesTooMany) {
  PlanProblem problem;
  problem.types = {{"node", {{Picoseconds(1), 1}, {Picoseconds(2), 0}}}};
  problem.tables = {
      {2, 2, std::vector<std::optional<Picoseconds>>(4, Picoseconds(0))}};
  for (int n = 0; n < 6; ++n) {
    problem.nodes.push_back({.type = 0});
    for (int m = 0; m < n; ++m) problem.edges.push_back({m, n, 0});
  }
  const Graph graph = BuildGraph(problem);
  EXPECT_TRUE(VariablesToSettle(graph, Decompose(graph), 100).empty());
  EXPECT_TRUE(VariablesToSettle(graph, Decompose(graph), 1).empty());
}

}  // namespace
}  // namespace meshwright::search
