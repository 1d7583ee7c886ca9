#include "planner/problem/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace meshwright::problem {
namespace {

PlanProblem TwoNodes() {
  PlanProblem problem;
  problem.types = {{"a", {{}, {}}}, {"b", {{}}}};
  problem.nodes = {{.type = 0, .repeat = 2}, {.type = 1}};
  problem.tables = {{2, 1, {Picoseconds(1), Picoseconds(2)}},
                    {2, 2, {Picoseconds(0), {}, {}, Picoseconds(0)}}};
  problem.edges = {{.from = 0, .to = 1, .table = 0}};
  problem.self_edges = {{.type = 0, .table = 1}};
  return problem;
}

struct BadCase {
  const char* says;
  std::function<void(PlanProblem&)> spoil;
};

TEST(ValidateTest, NamesTheFieldOfEveryFault) {
  const std::vector<BadCase> cases = {
      {"types[0].configs is empty",
       [](PlanProblem& p) { p.types[0].configs.clear(); }},
      {"types[0].configs[1].saved_bytes is negative: -1",
       [](PlanProblem& p) { p.types[0].configs[1].saved_bytes = -1; }},
      {"types[1].configs[0].seconds is negative",
       [](PlanProblem& p) { p.types[1].configs[0].time = Picoseconds(-1); }},
      {"tables[0][1][0] is negative",
       [](PlanProblem& p) { p.tables[0].entries[1] = Picoseconds(-5); }},
      {"tables[0] is not a full table",
       [](PlanProblem& p) { p.tables[0].entries.pop_back(); }},
      {"types[0].configs[1].seconds_interval is no interval",
       [](PlanProblem& p) {
         p.types[0].configs[1].noise.below = Picoseconds(1);
       }},
      {"types[0].configs[0].seconds_interval is no interval",
       [](PlanProblem& p) {
         p.types[0].configs[0].noise.above = Picoseconds(-1);
       }},
      {"types[1].configs[0].seconds_interval is no interval",
       [](PlanProblem& p) {
         p.types[1].configs[0].time = kMaxTime;
         p.types[1].configs[0].noise.above = Picoseconds(1);
       }},
      {"table_intervals[1] has 3 entries, but tables[1] has 4",
       [](PlanProblem& p) { p.tables[1].noise.resize(3); }},
      {"table_intervals[0][1][0] is no interval",
       [](PlanProblem& p) {
         p.tables[0].noise.resize(2);
         p.tables[0].noise[1].below = Picoseconds(3);
       }},
      {"nodes is empty", [](PlanProblem& p) { p.nodes.clear(); }},
      {"nodes[1].type is 9, but there are 2 types",
       [](PlanProblem& p) { p.nodes[1].type = 9; }},
      {"nodes[0].repeat is 0", [](PlanProblem& p) { p.nodes[0].repeat = 0; }},
      {"nodes[0].repeat brings the copies",
       [](PlanProblem& p) { p.nodes[0].repeat = 1'000'000'000'000; }},
      {"edges[0].to is 2, but there are 2 nodes",
       [](PlanProblem& p) { p.edges[0].to = 2; }},
      {"edges[0].table is 7, but there are 2 tables",
       [](PlanProblem& p) { p.edges[0].table = 7; }},
      {"edges[0].table is tables[1] of 2 x 2",
       [](PlanProblem& p) { p.edges[0].table = 1; }},
      {"self_edges[0].table is tables[0] of 2 x 1",
       [](PlanProblem& p) { p.self_edges[0].table = 0; }},
      {"self_edges[1].type is 0, which already has",
       [](PlanProblem& p) { p.self_edges.push_back(p.self_edges[0]); }},
      {"edges has a cycle that reaches node 0",
       [](PlanProblem& p) {
         p.edges.push_back({0, 0, 1});
       }},
      {"a key of fixed is 5", [](PlanProblem& p) { p.fixed[5] = {0}; }},
      {"an entry of fixed[1] is 1", [](PlanProblem& p) { p.fixed[1] = {1}; }},
      {"fixed[0] allows no", [](PlanProblem& p) { p.fixed[0] = {}; }},
      {"a key of forbidden is -1",
       [](PlanProblem& p) { p.forbidden[-1] = {0}; }},
      {"an entry of forbidden[1] is 3",
       [](PlanProblem& p) { p.forbidden[1] = {3}; }},
      {"forbidden[0] allows no configuration of node 0",
       [](PlanProblem& p) {
         p.forbidden[0] = {0, 1};
       }},
      {"fixed[0] allows no configuration of node 0",
       [](PlanProblem& p) {
         p.fixed[0] = {0};
         p.forbidden[0] = {0};
       }},
      {"headroom_percent is -1",
       [](PlanProblem& p) { p.headroom_percent = -1; }},
      {"headroom_percent is 100",
       [](PlanProblem& p) { p.headroom_percent = 100; }},
      {"headroom_percent is nan",
       [](PlanProblem& p) { p.headroom_percent = std::nan(""); }},
      {"nodes[0].repeat brings the copies to more than",
       [](PlanProblem& p) { p.nodes[0].repeat = int64_t{1} << 31; }},
      {"types[0].configs[0].seconds is too large",
       [](PlanProblem& p) {
         p.types[0].configs[0].time = kMaxTime + Picoseconds(1);
       }},
      {"memory_limit_bytes is negative",
       [](PlanProblem& p) { p.memory_limit_bytes = -1; }},
  };
  EXPECT_TRUE(Validate(TwoNodes()).ok());
  for (const BadCase& bad : cases) {
    PlanProblem problem = TwoNodes();
    bad.spoil(problem);
    const absl::Status status = Validate(problem);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << bad.says;
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr(bad.says));
  }
}

TEST(ValidateTest, AMillionNodesAreFine) {
  PlanProblem problem = TwoNodes();
  problem.fixed.clear();
  problem.nodes.assign(1'000'000, {.type = 0});
  problem.edges.clear();
  for (int n = 0; n + 1 < 1'000'000; ++n)
    problem.edges.push_back({n, n + 1, 1});
  EXPECT_TRUE(Validate(problem).ok());
  problem.edges.push_back({999'999, 0, 1});
  EXPECT_FALSE(Validate(problem).ok());
}

TEST(ValidateTest, ChecksChoices) {
  PlanProblem problem = TwoNodes();
  EXPECT_TRUE(ValidateChoice(problem, {{0, 1}, {0}}).ok());
  EXPECT_FALSE(ValidateChoice(problem, {{0, 1}}).ok());
  EXPECT_FALSE(ValidateChoice(problem, {{0}, {0}}).ok());
  EXPECT_FALSE(ValidateChoice(problem, {{0, 2}, {0}}).ok());
  problem.fixed[0] = {1};
  EXPECT_FALSE(ValidateChoice(problem, {{0, 1}, {0}}).ok());
  problem.fixed.clear();
  problem.forbidden[0] = {0};
  EXPECT_FALSE(ValidateChoice(problem, {{0, 1}, {0}}).ok());
  problem.nodes[0].tied = true;
  EXPECT_TRUE(ValidateChoice(problem, {{1, 1}, {0}}).ok());
}

}  // namespace
}  // namespace meshwright::problem
