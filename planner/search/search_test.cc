// The search against the exhaustive oracle on thousands of small problems.
#include "planner/search/search.h"

#include <gtest/gtest.h>

#include <random>

#include "planner/problem/evaluate.h"
#include "planner/problem/problem_json.h"
#include "planner/search/exhaustive.h"

namespace meshwright::search {
namespace {

using problem::Picoseconds;
using problem::PlanProblem;

// What may occur in a random problem.
struct Kinds {
  bool skips = false;
  bool shuffled = false;
  bool tied = false;
  bool nulls = false;
  bool fixed = false;
  bool limit = false;
  bool gaps = false;  // disconnected components
};

class Generator {
 public:
  Generator(uint64_t seed, const Kinds& kinds) : random_(seed), kinds_(kinds) {}

  PlanProblem Make() {
    PlanProblem made;
    spread_ = Below(2) == 0 ? 3 : 40;  // few values make many ties
    const int types = 1 + Below(3);
    for (int t = 0; t < types; ++t) made.types.push_back(MakeType());
    int copies = 0;
    while (copies < 6 && made.nodes.size() < 5) {
      problem::Node node{.type = Below(types), .repeat = 1 + Below(4)};
      node.tied = kinds_.tied && Below(3) == 0;
      copies += node.tied ? 1 : node.repeat;
      made.nodes.push_back(node);
    }
    const int nodes = made.nodes.size();
    std::vector<int> order(nodes);
    for (int n = 0; n < nodes; ++n) order[n] = n;
    if (kinds_.shuffled) std::shuffle(order.begin(), order.end(), random_);
    for (int i = 0; i + 1 < nodes; ++i) {
      if (kinds_.gaps && Below(4) == 0) continue;
      AddEdge(made, order[i], order[i + 1]);
    }
    for (int i = kinds_.skips ? Below(3) : 0; i > 0 && nodes > 1; --i) {
      const int from = Below(nodes - 1);
      AddEdge(made, order[from], order[from + 1 + Below(nodes - 1 - from)]);
    }
    for (int t = 0; t < types; ++t) {
      if (Below(3) == 0) continue;
      made.self_edges.push_back({t, TableOf(made, t, t)});
    }
    if (kinds_.fixed) {
      for (int i = Below(3); i > 0; --i) {
        const int n = Below(nodes);
        made.fixed[n] = {Below(Configs(made, made.nodes[n].type))};
        if (Below(2) == 0) {
          made.fixed[n].push_back(Below(Configs(made, made.nodes[n].type)));
        }
      }
    }
    if (kinds_.limit) made.memory_limit_bytes = Below(copies * 2 * spread_);
    return made;
  }

 private:
  int Below(int bound) { return static_cast<int>(random_() % bound); }

  static int Configs(const PlanProblem& problem, int type) {
    return problem.types[type].configs.size();
  }

  problem::NodeType MakeType() {
    problem::NodeType type;
    for (int c = 1 + Below(3); c > 0; --c) {
      type.configs.push_back({Picoseconds(Below(spread_)), Below(spread_),
                              Below(spread_), Below(2 * spread_)});
    }
    return type;
  }

  // A new table, or one there is, so that equal neighbours occur.
  int TableOf(PlanProblem& made, int from, int to) {
    const int rows = Configs(made, from);
    const int columns = Configs(made, to);
    for (size_t t = 0; t < made.tables.size(); ++t) {
      if (made.tables[t].rows == rows && made.tables[t].columns == columns &&
          Below(2) == 0) {
        return t;
      }
    }
    problem::Table table{rows, columns, {}};
    for (int i = 0; i < rows * columns; ++i) {
      table.entries.push_back(Picoseconds(Below(spread_)));
      if (kinds_.nulls && Below(4) == 0) table.entries.back().reset();
    }
    made.tables.push_back(std::move(table));
    return static_cast<int>(made.tables.size()) - 1;
  }

  void AddEdge(PlanProblem& made, int from, int to) {
    const int table = TableOf(made, made.nodes[from].type, made.nodes[to].type);
    made.edges.push_back({from, to, table});
  }

  std::mt19937_64 random_;
  Kinds kinds_;
  int spread_ = 3;
};

void Compare(const Kinds& kinds, int rounds, uint64_t first_seed) {
  int feasible = 0;
  for (int round = 0; round < rounds; ++round) {
    const PlanProblem problem = Generator(first_seed + round, kinds).Make();
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
    if (!kinds.limit) {
      ASSERT_EQ(answer->plan->choice, *oracle.choice);
    }
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

// With a limit, a chain in file order also gets the smallest choice.
TEST(SearchTest, LimitedChainsBreakTiesAlike) {
  for (int round = 0; round < 1500; ++round) {
    const PlanProblem problem = Generator(round, {.limit = true}).Make();
    SCOPED_TRACE(problem::ProblemToJson(problem));
    const Exhaustive oracle = SolveExhaustively(problem);
    const auto answer = Solve(problem);
    ASSERT_TRUE(answer.ok());
    if (oracle.choice.has_value()) {
      ASSERT_EQ(answer->plan->choice, *oracle.choice);
    }
  }
}

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

// Folded copies against the same copies listed as nodes out of order, which
// are solved copy by copy.
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
    std::vector<int> listed;
    for (int i = 0; i < depth; ++i) {
      listed.push_back(b->plan->choice[i].front());
    }
    EXPECT_EQ(a->plan->choice[0], listed) << round;
  }
}

TEST(SearchTest, AMillionCopiesAreFolded) {
  PlanProblem problem = Deep(20, 1'000'000, 3);
  // Two configurations a picosecond apart, no resharding that pays, and a last
  // edge that favours the dearer: values do not settle, so powers are needed.
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

TEST(SearchTest, DeepChainsWithALimitAreProved) {
  for (const int depth : {12, 24}) {
    PlanProblem problem = Deep(81, depth, depth);
    const auto fastest = Solve(problem);
    ASSERT_TRUE(fastest.ok());
    problem.memory_limit_bytes = 0;
    const auto least = Solve(problem);
    ASSERT_TRUE(least.ok());
    ASSERT_FALSE(least->plan.has_value());
    problem.memory_limit_bytes =
        (*least->least_memory_bytes + fastest->plan->peak_bytes) / 2;
    const auto answer = Solve(problem);
    ASSERT_TRUE(answer.ok()) << answer.status();
    ASSERT_TRUE(answer->plan.has_value());
    EXPECT_LE(answer->plan->peak_bytes, *problem.memory_limit_bytes);
    EXPECT_EQ(answer->lower_bound, answer->plan->time) << answer->Gap();
    RecordProperty("milliseconds",
                   static_cast<int>(answer->elapsed.count() * 1000));
  }
}

TEST(SearchTest, APassedDeadlineStillGivesAPlanWithABound) {
  PlanProblem problem = Deep(40, 30, 5);
  const auto least = Solve(problem);
  ASSERT_TRUE(least.ok());
  problem.memory_limit_bytes = least->plan->peak_bytes - 1;
  const auto answer =
      Solve(problem, {.deadline = std::chrono::steady_clock::time_point{}});
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_TRUE(answer->plan.has_value());
  EXPECT_LE(answer->plan->peak_bytes, *problem.memory_limit_bytes);
  EXPECT_LE(answer->lower_bound, answer->plan->time);
  EXPECT_GE(answer->Gap(), 0);
}

TEST(SearchTest, TimesBeyondTheLimitAreSaidNotWrapped) {
  PlanProblem problem = Deep(3, 8, 1);
  for (auto& config : problem.types[0].configs) {
    config.time = problem::kLongestTime;
  }
  EXPECT_EQ(Solve(problem).status().code(), absl::StatusCode::kOutOfRange);
  problem.types[0].configs[1].time = Picoseconds(1);
  const auto answer = Solve(problem);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->plan->choice[0], std::vector<int>(8, 1));
}

TEST(SearchTest, TooManyCombinationsAreRefused) {
  PlanProblem problem = Deep(81, 1, 2);
  problem.nodes.assign(6, {.type = 0});
  problem.edges.clear();
  problem.self_edges.clear();
  for (int a = 0; a < 6; ++a) {
    for (int b = a + 1; b < 6; ++b) problem.edges.push_back({a, b, 0});
  }
  const auto answer = Solve(problem);
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(answer.status().message().find("100000"), std::string::npos);
}

}  // namespace
}  // namespace meshwright::search
