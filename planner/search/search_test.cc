// The search against the exhaustive oracle on thousands of small problems.
#include "planner/search/search.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>

#include "planner/problem/evaluate.h"
#include "planner/problem/testing/write_problem.h"
#include "planner/search/testing/exhaustive.h"
#include "planner/search/testing/random_problem.h"

namespace meshwright::search {
namespace {

using problem::Picoseconds;
using problem::PlanProblem;

// A budget so small that nothing is eliminated and labels are narrow.
WorkBudget Little(int64_t candidates) {
  return {.table_entries = 3,
          .table_steps = 1,
          .easy_steps = 1,
          .labels = 200,
          .candidates = candidates};
}

void Compare(const Kinds& kinds, int rounds, uint64_t first_seed) {
  int feasible = 0;
  for (int round = 0; round < rounds; ++round) {
    const PlanProblem problem = RandomProblem(first_seed + round, kinds);
    SCOPED_TRACE(problem::ProblemToJson(problem));
    const Exhaustive oracle = SolveExhaustively(problem);
    const auto answer = Solve(problem);
    ASSERT_TRUE(answer.ok()) << answer.status();
    ASSERT_EQ(answer->plan.has_value(), oracle.choice.has_value());
    if (!oracle.choice.has_value()) {
      ASSERT_EQ(answer->least_memory_bytes, oracle.least_memory_bytes);
      continue;
    }
    ++feasible;
    ASSERT_EQ(answer->plan->time, oracle.time);
    ASSERT_EQ(answer->lower_bound, oracle.time);
    const auto repeated = Solve(problem);
    ASSERT_EQ(answer->plan->choice, repeated->plan->choice);
  }
  EXPECT_GT(feasible, rounds / 10);
}

TEST(SearchTest, Chains) { Compare({}, 1500, 1); }
TEST(SearchTest, ChainsInAnyOrder) { Compare({.shuffled = true}, 1500, 10000); }
TEST(SearchTest, TiedNodesAndForbiddenPairs) {
  Compare({.tied = true, .nulls = true, .gaps = true}, 1500, 20000);
}
TEST(SearchTest, SkipEdges) { Compare({.skips = true}, 1500, 30000); }
TEST(SearchTest, EverythingWithoutALimit) {
  Compare({true, true, true, true, true, false, true}, 3000, 40000);
}
TEST(SearchTest, ChainsWithALimit) { Compare({.limit = true}, 1500, 50000); }
TEST(SearchTest, EverythingWithALimit) {
  Compare({true, true, true, true, true, true, true}, 3000, 60000);
}

class GraphSearchTest : public testing::TestWithParam<Skeleton> {
 protected:
  Kinds MakeKinds(bool everything, bool limit) const {
    return {.shuffled = true,
            .tied = everything,
            .nulls = everything,
            .fixed = everything,
            .limit = limit,
            .skeleton = GetParam(),
            .nodes = 7,
            .copies = 8};
  }
};

TEST_P(GraphSearchTest, Free) { Compare(MakeKinds(false, false), 400, 100000); }
TEST_P(GraphSearchTest, FreeWithEverything) {
  Compare(MakeKinds(true, false), 500, 110000);
}
TEST_P(GraphSearchTest, Limited) {
  Compare(MakeKinds(false, true), 300, 120000);
}
TEST_P(GraphSearchTest, LimitedWithEverything) {
  Compare(MakeKinds(true, true), 300, 130000);
}

// However little is spent, bound <= optimum <= plan, and a plan is there unless
// forbidden pairs hide it, which is said.
TEST_P(GraphSearchTest, LittleWorkLeavesACertifiedGap) {
  int open = 0;
  int proved = 0;
  for (const bool limit : {false, true}) {
    for (int round = 0; round < 400; ++round) {
      const PlanProblem problem =
          RandomProblem(140000 + round, MakeKinds(round % 2 == 1, limit));
      SCOPED_TRACE(problem::ProblemToJson(problem));
      const Exhaustive oracle = SolveExhaustively(problem);
      const auto answer =
          Solve(problem, {.work = Little(round % 3 == 0 ? 1 : 1000)});
      if (answer.status().code() == absl::StatusCode::kResourceExhausted) {
        ASSERT_TRUE(round % 2 == 1) << "nothing is forbidden";
        continue;
      }
      ASSERT_TRUE(answer.ok()) << answer.status();
      ASSERT_EQ(answer->plan.has_value(), oracle.choice.has_value());
      if (!oracle.choice.has_value()) continue;
      ASSERT_LE(answer->lower_bound, oracle.time);
      ASSERT_GE(answer->plan->time, oracle.time);
      ASSERT_LE(answer->plan->peak_bytes,
                problem.memory_limit_bytes.value_or(1 << 30));
      answer->Gap() > 0 ? ++open : ++proved;
    }
  }
  RecordProperty("open", open);
  EXPECT_GT(proved, 150);
}

std::string NameSkeleton(const testing::TestParamInfo<Skeleton>& skeleton) {
  switch (skeleton.param) {
    case Skeleton::kChain:
      return "Chain";
    case Skeleton::kHub:
      return "Hub";
    case Skeleton::kLadder:
      return "Ladder";
    case Skeleton::kDense:
      return "Dense";
  }
  return "";
}

INSTANTIATE_TEST_SUITE_P(Skeletons, GraphSearchTest,
                         testing::Values(Skeleton::kChain, Skeleton::kHub,
                                         Skeleton::kLadder, Skeleton::kDense),
                         NameSkeleton);

// One layer type of `configs` configurations, `depth` copies, then a head.
PlanProblem Deep(int configs, int64_t depth, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int64_t bound) {
    return static_cast<int64_t>(random() % bound);
  };
  PlanProblem problem;
  problem::NodeType layer{"layer", {}};
  for (int c = 0; c < configs; ++c) {
    layer.configs.push_back({Picoseconds(1'000'000 + below(1'000'000)),
                             1000 + below(9000), below(5000), below(4000)});
  }
  problem.types = {layer, {"head", {{Picoseconds(5), 1, 1, 1}}}};
  problem.nodes = {{.type = 0, .repeat = depth}, {.type = 1}};
  problem::Table self{configs, configs, {}};
  for (int i = 0; i < configs * configs; ++i) {
    self.entries.push_back(Picoseconds(below(1'000'000)));
  }
  problem::Table last{configs, 1, {}};
  for (int i = 0; i < configs; ++i) {
    last.entries.push_back(Picoseconds(below(9'000'000'000)));
  }
  problem.tables = {self, last};
  problem.edges = {{0, 1, 1}};
  problem.self_edges = {{0, 0}};
  return problem;
}

// Folded copies against the same copies listed as nodes out of order.
TEST(SearchTest, FoldedRunsEqualPlainOnes) {
  for (int round = 0; round < 60; ++round) {
    std::mt19937_64 random(round);
    PlanProblem folded = Deep(2 + random() % 4, 150 + random() % 400, round);
    for (auto& entry : folded.tables[0].entries) {
      entry = Picoseconds(random() % 4);
      if (random() % 3 == 0) entry.reset();
    }
    for (auto& config : folded.types[0].configs) {
      config.time = Picoseconds(1'000'000 + random() % 2);
    }
    PlanProblem plain = folded;
    const int depth = folded.nodes[0].repeat;
    plain.nodes.assign(depth + 1, {.type = 0});
    plain.nodes[depth] = {.type = 1};
    plain.self_edges.clear();
    plain.edges = {{depth - 1, depth, 1}};
    for (int i = 0; i + 1 < depth; ++i) plain.edges.push_back({i, i + 1, 0});
    // A free head before all, whose slot comes last, puts slots out of order.
    plain.nodes.push_back({.type = 1});
    plain.tables.push_back({1, folded.tables[0].rows,
                            std::vector<std::optional<Picoseconds>>(
                                folded.tables[0].rows, Picoseconds(0))});
    plain.edges.push_back({depth + 1, 0, 2});
    const auto a = Solve(folded);
    const auto b = Solve(plain);
    ASSERT_TRUE(a.ok() && b.ok());
    ASSERT_EQ(a->plan.has_value(), b->plan.has_value());
    if (!a->plan.has_value()) continue;
    EXPECT_EQ(a->plan->time.count() + 5, b->plan->time.count());
  }
}

TEST(SearchTest, AMillionCopiesAreFolded) {
  PlanProblem problem = Deep(20, 1'000'000, 3);
  // Two configurations a picosecond apart, no resharding that pays, and a last
  // edge that favours the more expensive: values do not settle, so powers are
  // needed.
  problem.types[0].configs[4].time = Picoseconds(1000);
  problem.types[0].configs[9].time = Picoseconds(1001);
  problem.tables[0].entries[4 * 20 + 4] = Picoseconds(0);
  problem.tables[0].entries[9 * 20 + 9] = Picoseconds(0);
  problem.tables[1].entries[9] = Picoseconds(0);
  const auto answer = Solve(problem);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->lower_bound, answer->plan->time);
  EXPECT_EQ(answer->plan->choice[0].size(), 1'000'000);
}

TEST(SearchTest, AMillionNodesAreFine) {
  PlanProblem problem = Deep(2, 1, 4);
  problem.self_edges.clear();
  problem.edges.clear();
  problem.nodes.assign(1'000'000, {.type = 0});
  // One long chain, then nodes on their own.
  for (int n = 0; n < 500'000; ++n) problem.edges.push_back({n, n + 1, 0});
  const auto answer = Solve(problem);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->lower_bound, answer->plan->time);
  EXPECT_LT(answer->elapsed.count(), 60);
}

TEST(SearchTest, AMillionNodesWithALimitHaveAPlanAndABound) {
  PlanProblem problem = Deep(2, 1, 4);
  problem.self_edges.clear();
  problem.edges.clear();
  problem.nodes.assign(1'000'000, {.type = 0});
  problem.types[0].configs[0] = {Picoseconds(1'000'000), 9000, 0, 5};
  problem.types[0].configs[1] = {Picoseconds(2'000'000), 1000, 0, 4};
  for (int n = 0; n < 500'000; ++n) problem.edges.push_back({n, n + 1, 0});
  problem.memory_limit_bytes = 5'000'000'000;
  const auto answer = Solve(problem);
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_TRUE(answer->plan.has_value());
  EXPECT_LE(answer->plan->peak_bytes, 5'000'000'000);
  EXPECT_LE(answer->lower_bound, answer->plan->time);
}

// The largest figures there may be, as often as may be: sums that do not fit
// are said or held at the largest, never wrapped.
TEST(SearchTest, SumsAtTheLimitsAreChecked) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  for (const bool tied : {false, true}) {
    PlanProblem problem;
    problem.types = {{"t", {{problem::kMaxTime, kMax, kMax, kMax}}}};
    problem.nodes = {{.type = 0, .repeat = 10'000'000, .tied = tied}};
    EXPECT_EQ(Solve(problem).status().code(), absl::StatusCode::kOutOfRange);
    problem.types[0].configs[0].time = Picoseconds(1000);
    EXPECT_EQ(Solve(problem).status().code(), absl::StatusCode::kOutOfRange);
    constexpr int64_t kPart = kMax / 40'000'000;
    problem.types[0].configs[0] = {Picoseconds(1000), kPart, kPart, kPart};
    const auto free = Solve(problem);
    ASSERT_TRUE(free.ok()) << free.status();
    EXPECT_EQ(free->plan->time, Picoseconds(10'000'000'000));
    EXPECT_EQ(free->plan->peak_bytes, 20'000'001 * kPart);
    // 2^31 - 1 copies, and those that a sum of repeats would wrap, are refused.
    for (const int64_t repeat : {(int64_t{1} << 31) - 1, kMax}) {
      problem.nodes = {{.type = 0, .repeat = 5, .tied = tied},
                       {.type = 0, .repeat = repeat, .tied = tied}};
      EXPECT_EQ(Solve(problem).status().code(),
                absl::StatusCode::kInvalidArgument);
    }
  }
}

TEST(SearchTest, ALimitOfNothingNamesTheLeastMemory) {
  PlanProblem problem = Deep(3, 4, 1);
  problem.memory_limit_bytes = 0;
  const auto answer = Solve(problem);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_FALSE(answer->plan.has_value());
  problem.memory_limit_bytes = answer->least_memory_bytes;
  const auto smallest = Solve(problem);
  ASSERT_TRUE(smallest.ok()) << smallest.status();
  EXPECT_EQ(smallest->plan->peak_bytes, *answer->least_memory_bytes);
}

TEST(SearchTest, DeepChainsWithALimitAreProved) {
  for (const int depth : {12, 24}) {
    PlanProblem problem = Deep(81, depth, depth);
    const auto fastest = Solve(problem);
    ASSERT_TRUE(fastest.ok());
    problem.memory_limit_bytes = 0;
    const auto smallest = Solve(problem);
    ASSERT_TRUE(smallest.ok());
    ASSERT_FALSE(smallest->plan.has_value());
    problem.memory_limit_bytes =
        (*smallest->least_memory_bytes + fastest->plan->peak_bytes) / 2;
    const auto answer = Solve(problem);
    ASSERT_TRUE(answer.ok()) << answer.status();
    ASSERT_TRUE(answer->plan.has_value());
    EXPECT_LE(answer->plan->peak_bytes, *problem.memory_limit_bytes);
    EXPECT_EQ(answer->lower_bound, answer->plan->time) << answer->Gap();
    RecordProperty("milliseconds",
                   static_cast<int>(answer->elapsed.count() * 1000));
  }
}

TEST(SearchTest, TimesBeyondTheLimitAreSaidNotWrapped) {
  PlanProblem problem = Deep(3, 8, 1);
  for (auto& config : problem.types[0].configs) {
    config.time = problem::kMaxTime;
  }
  EXPECT_EQ(Solve(problem).status().code(), absl::StatusCode::kOutOfRange);
  problem.types[0].configs[1].time = Picoseconds(1);
  const auto answer = Solve(problem);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->plan->choice[0], std::vector<int>(8, 1));
}

// A hub read by every node: figures near the ends of what is allowed.
PlanProblem LongHub() {
  PlanProblem problem = Deep(3, 1, 7);
  problem.nodes.assign(8, {.type = 0});
  problem.self_edges.clear();
  problem.edges.clear();
  for (int n = 1; n < 8; ++n) {
    problem.edges.push_back({n - 1, n, 0});
    if (n > 1) problem.edges.push_back({0, n, 0});
  }
  for (auto& entry : problem.tables[0].entries) entry = problem::kMaxTime;
  return problem;
}

TEST(SearchTest, TimesBeyondTheLimitAreSaidInGraphsToo) {
  PlanProblem problem = LongHub();
  EXPECT_EQ(Solve(problem).status().code(), absl::StatusCode::kOutOfRange);
  problem.tables[0].entries[1 * 3 + 1] = Picoseconds(0);
  for (const double easy_steps : {1.0, 1e9}) {
    const auto answer = Solve(problem, {.work = {.easy_steps = easy_steps}});
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->lower_bound, answer->plan->time);
    for (const auto& copies : answer->plan->choice) EXPECT_EQ(copies[0], 1);
  }
}

TEST(SearchTest, BytesNearTheEndOfTheirRangeAreLimited) {
  for (const int64_t big : {int64_t{1} << 40, int64_t{1} << 55}) {
    PlanProblem problem = LongHub();
    for (auto& entry : problem.tables[0].entries) {
      entry = Picoseconds(entry->count() % 1000);
    }
    for (int c = 0; c < 3; ++c) {
      problem.types[0].configs[c] = {Picoseconds(100 - 10 * c), big + c * big,
                                     c, 2 - c};
    }
    problem.memory_limit_bytes = 13 * big + 20;
    const Exhaustive oracle = SolveExhaustively(problem);
    const auto answer = Solve(problem);
    ASSERT_TRUE(answer.ok()) << answer.status();
    ASSERT_TRUE(answer->plan.has_value());
    EXPECT_EQ(answer->plan->time, oracle.time);
    EXPECT_EQ(answer->lower_bound, oracle.time);
  }
}

// A plan that needs more bytes than can be counted fits no limit.
TEST(SearchTest, BytesBeyondTheirRangeDoNotFit) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  PlanProblem problem;
  problem.types = {{"t",
                    {{Picoseconds(1), kMax, kMax, kMax},
                     {Picoseconds(2), kMax / 40, 0, 0},
                     {Picoseconds(3), 1, 1, 1}}}};
  for (const int64_t repeat : {1, 7, 30}) {
    problem.nodes = {{.type = 0, .repeat = repeat}};
    problem.memory_limit_bytes = kMax;
    const auto answer = Solve(problem);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->plan->time, Picoseconds(2 * repeat));
    EXPECT_EQ(answer->lower_bound, answer->plan->time);
  }
  problem.types[0].configs.resize(1);
  problem.types[0].configs[0] = {Picoseconds(1), kMax, 0, 0};
  problem.nodes = {{.type = 0}};
  const auto all = Solve(problem);
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->plan->peak_bytes, kMax);
}

// Longer than the labels reach: charged and mixed, with a certified gap.
TEST(SearchTest, VeryDeepChainsWithALimitHaveASmallCertifiedGap) {
  PlanProblem problem = Deep(81, 40'000, 6);
  const auto fastest = Solve(problem);
  ASSERT_TRUE(fastest.ok());
  problem.memory_limit_bytes = 0;
  const auto smallest = Solve(problem);
  ASSERT_TRUE(smallest.ok());
  problem.memory_limit_bytes =
      (*smallest->least_memory_bytes + fastest->plan->peak_bytes) / 2;
  const auto answer = Solve(problem);
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_TRUE(answer->plan.has_value());
  EXPECT_LE(answer->plan->peak_bytes, *problem.memory_limit_bytes);
  EXPECT_LE(answer->Gap(), 0.01);
}

// Twenty nodes, each joined with all others.
TEST(SearchTest, DenseGraphsStillHaveAPlanAndABound) {
  PlanProblem problem = Deep(12, 1, 2);
  problem.nodes.assign(20, {.type = 0});
  problem.edges.clear();
  problem.self_edges.clear();
  for (int a = 0; a < 20; ++a) {
    for (int b = a + 1; b < 20; ++b) problem.edges.push_back({a, b, 0});
  }
  const auto answer = Solve(problem, {.work = {.candidates = 100'000}});
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_TRUE(answer->plan.has_value());
  EXPECT_LE(answer->lower_bound, answer->plan->time);
  EXPECT_GT(answer->lower_bound.count(), 0);
}

}  // namespace
}  // namespace meshwright::search
