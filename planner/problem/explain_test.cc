#include "planner/problem/explain.h"

#include <gtest/gtest.h>

#include <random>

#include "planner/problem/evaluate.h"

namespace meshwright::problem {
namespace {

Table RandomTable(std::mt19937_64& random, int rows, int columns) {
  Table table{rows, columns, {}};
  for (int i = 0; i < rows * columns; ++i) {
    table.entries.push_back(Picoseconds(random() % 50));
    if (random() % 8 == 0) table.entries.back().reset();
  }
  return table;
}

// The oracle: evaluate every single move.
TEST(ExplainTest, AgreesWithEvaluatingEveryMove) {
  std::mt19937_64 random(7);
  int explained = 0;
  for (int round = 0; round < 300; ++round) {
    PlanProblem problem;
    NodeType type{"t", {}};
    for (int c = 0; c < 3; ++c) {
      type.configs.push_back({Picoseconds(random() % 50),
                              static_cast<int64_t>(random() % 9),
                              static_cast<int64_t>(random() % 9),
                              static_cast<int64_t>(random() % 9)});
    }
    problem.types = {type};
    problem.nodes = {{.repeat = 2}, {.repeat = 3, .tied = true}, {}};
    problem.tables = {RandomTable(random, 3, 3), RandomTable(random, 3, 3)};
    problem.edges = {{0, 1, 0}, {1, 2, 1}, {0, 2, 1}};
    problem.self_edges = {{0, 0}};
    problem.memory_limit_bytes = 60;
    const int tied = random() % 3;
    const Choice choice = {
        {static_cast<int>(random() % 3), static_cast<int>(random() % 3)},
        {tied, tied, tied},
        {static_cast<int>(random() % 3)}};
    const auto now = Evaluate(problem, choice);
    if (!now.ok()) continue;
    const auto explanations = Explain(problem, choice);
    ASSERT_TRUE(explanations.ok());
    ASSERT_EQ(explanations->size(), 4);
    for (const Explanation& explanation : *explanations) {
      std::optional<RunnerUp> best;
      for (int c = 0; c < 3; ++c) {
        Choice moved = choice;
        auto& copies = moved[explanation.node];
        if (explanation.node == 1) {
          copies = {c, c, c};
        } else {
          copies[explanation.copy] = c;
        }
        const auto after = Evaluate(problem, moved);
        if (c == explanation.config || !after.ok()) continue;
        const RunnerUp move{c, after->time - now->time, after->peak_bytes,
                            after->peak_bytes <= 60};
        if (!best || std::pair(!move.fits, move.saves) <
                         std::pair(!best->fits, best->saves)) {
          best = move;
        }
      }
      ASSERT_EQ(explanation.runner_up.has_value(), best.has_value());
      if (!best.has_value()) continue;
      ++explained;
      EXPECT_EQ(explanation.runner_up->config, best->config);
      EXPECT_EQ(explanation.runner_up->saves, best->saves);
      EXPECT_EQ(explanation.runner_up->peak_bytes, best->peak_bytes);
      EXPECT_EQ(explanation.runner_up->fits, best->fits);
    }
  }
  EXPECT_GT(explained, 300);
}

}  // namespace
}  // namespace meshwright::problem
