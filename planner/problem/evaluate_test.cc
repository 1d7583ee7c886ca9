#include "planner/problem/evaluate.h"

#include <gtest/gtest.h>

#include <limits>

namespace meshwright::problem {
namespace {

PlanProblem MakeChain() {
  PlanProblem problem;
  problem.types = {
      {"layer", {{Picoseconds(10), 1, 2, 30}, {Picoseconds(20), 4, 8, 5}}},
      {"head", {{Picoseconds(7), 16, 0, 0}}}};
  problem.nodes = {{.type = 0, .repeat = 3}, {.type = 1}};
  problem.tables = {
      {2, 1, {Picoseconds(100), Picoseconds(200)}},
      {2, 2, {Picoseconds(0), Picoseconds(3), {}, Picoseconds(1)}}};
  problem.edges = {{.from = 0, .to = 1, .table = 0}};
  problem.self_edges = {{.type = 0, .table = 1}};
  return problem;
}

TEST(EvaluateTest, AddsTimesAndTakesTheLargestTransient) {
  const auto evaluation = Evaluate(MakeChain(), {{0, 1, 1}, {0}});
  ASSERT_TRUE(evaluation.ok());
  EXPECT_EQ(evaluation->time.count(), 10 + 3 + 20 + 1 + 20 + 200 + 7);
  EXPECT_EQ(evaluation->resharding_time.count(), 3 + 1 + 200);
  EXPECT_EQ(evaluation->peak_bytes, 3 + 12 + 12 + 16 + 30);
}

TEST(EvaluateTest, SaysWhichEntryForbids) {
  const auto evaluation = Evaluate(MakeChain(), {{1, 0, 0}, {0}});
  EXPECT_EQ(evaluation.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(evaluation.status().message(), "tables[1][1][0] forbids this plan");
}

TEST(EvaluateTest, RefusesSumsBeyond63Bits) {
  PlanProblem problem = MakeChain();
  problem.self_edges.clear();
  problem.types[0].configs[0].time = kMaxTime;
  EXPECT_TRUE(Evaluate(problem, {{0, 0, 1}, {0}}).ok());
  problem.nodes[0].repeat = 5;
  EXPECT_EQ(Evaluate(problem, {{0, 0, 0, 0, 0}, {0}}).status().code(),
            absl::StatusCode::kOutOfRange);
  problem = MakeChain();
  problem.types[1].configs[0].saved_bytes = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Evaluate(problem, {{0, 0, 0}, {0}}).status().code(),
            absl::StatusCode::kOutOfRange);
}

}  // namespace
}  // namespace meshwright::problem
