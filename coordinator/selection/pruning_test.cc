#include "coordinator/selection/pruning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <stop_token>

#include "coordinator/selection/memory_multiplier.h"
#include "coordinator/selection/optimistic_plan.h"
#include "coordinator/selection/substitution_bound.h"
#include "planner/search/search.h"

namespace meshwright::selection {
namespace {

using problem::Picoseconds;
using problem::PlanProblem;
using segmenter::SegmentTypeId;

constexpr int kConfigurations = 12;
constexpr SegmentTypeId kFirst(0);
constexpr SegmentTypeId kSecond(1);

// Two ends and `depth` equal copies between them; configurations that share
// their boundary shardings (c % 3 in, c / 4 out) have equal rows in the tables.
PlanProblem RandomProblem(uint64_t seed, int depth, bool holes) {
  std::mt19937_64 random(seed);
  const auto below = [&](int64_t limit) {
    return static_cast<int64_t>(random() % limit);
  };
  PlanProblem it;
  it.types.resize(3);
  for (int c = 0; c < 3; ++c) {
    it.types[0].configs.push_back({Picoseconds(50 + below(50)), 0, 0, 0});
    it.types[2].configs.push_back({Picoseconds(50 + below(50)), 0, 0, 0});
  }
  for (int c = 0; c < kConfigurations; ++c) {
    it.types[1].configs.push_back(
        {Picoseconds(1000 + below(600)), 10 + below(90), 10 + below(90), 0});
  }
  std::vector<std::vector<int64_t>> moves(3, std::vector<int64_t>(3));
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) moves[a][b] = a == b ? 0 : 20 + below(80);
  }
  const auto table = [&](int rows, int columns, const auto& out,
                         const auto& in) {
    problem::Table made{rows, columns, {}};
    for (int a = 0; a < rows; ++a) {
      for (int b = 0; b < columns; ++b) {
        made.entries.emplace_back(Picoseconds(moves[out(a)][in(b)]));
      }
    }
    it.tables.push_back(made);
  };
  const auto same = [](int c) { return c; };
  const auto in = [](int c) { return c % 3; };
  const auto out = [](int c) { return c / 4; };
  table(3, kConfigurations, same, in);
  table(kConfigurations, kConfigurations, out, in);
  table(kConfigurations, 3, out, same);
  if (holes) {
    // A shared parameter: the first end fits some configurations only.
    for (int a = 0; a < 3; ++a) {
      for (int c = 0; c < kConfigurations; ++c) {
        if (c % 2 != a % 2) it.tables[0].entries[a * kConfigurations + c] = {};
      }
    }
  }
  it.nodes = {{0, 1}, {1, depth}, {2, 1}};
  it.edges = {{0, 1, 0}, {1, 2, 2}};
  it.self_edges = {{1, 1}};
  return it;
}

Standings AllMeasured(const PlanProblem& problem) {
  Standings standings;
  for (const auto& type : problem.types) {
    standings.emplace_back(type.configs.size(), Standing::kMeasured);
  }
  return standings;
}

TEST(SubstitutionBoundTest, NoNeighboursMakeAChangeMoreExpensive) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const PlanProblem problem = RandomProblem(seed, 3, seed % 2 == 1);
    const SubstitutionBound costs(problem);
    for (int a = 0; a < kConfigurations; ++a) {
      for (int b = 0; b < kConfigurations; ++b) {
        // Brute force over the neighbours of the three copies.
        Picoseconds worst{INT64_MIN};
        bool forbidden = false;
        const auto change = [&](int table, bool row,
                                int x) -> std::optional<Picoseconds> {
          const auto& it = problem.tables[table];
          const auto before = row ? it.at(a, x) : it.at(x, a);
          const auto after = row ? it.at(b, x) : it.at(x, b);
          if (!before.has_value()) return std::nullopt;
          if (!after.has_value()) forbidden = true;
          return after.value_or(Picoseconds(0)) - *before;
        };
        const auto pair = [&](int first, int firsts, int second, int seconds) {
          for (int x = 0; x < firsts; ++x) {
            for (int y = 0; y < seconds; ++y) {
              const auto left = change(first, false, x);
              const auto right = change(second, true, y);
              if (left && right) worst = std::max(worst, *left + *right);
            }
          }
        };
        pair(0, 3, 1, kConfigurations);
        pair(1, kConfigurations, 1, kConfigurations);
        pair(1, kConfigurations, 2, 3);
        const auto bound = costs.Bound(kSecond, a, b);
        EXPECT_EQ(bound.has_value(), !forbidden) << seed << " " << a << b;
        if (bound && !forbidden) {
          EXPECT_EQ(*bound, worst) << seed << a << b;
        }
      }
    }
  }
}

// Two separate nodes of one type read the first end, across equal tables.
PlanProblem ReadTwice(uint64_t seed) {
  PlanProblem it = RandomProblem(seed, 1, false);
  it.nodes = {{0, 1}, {1, 1}, {2, 1}, {1, 1}};
  it.edges = {{0, 1, 0}, {1, 2, 2}, {2, 3, 0}, {0, 3, 0}};
  return it;
}

TEST(SubstitutionBoundTest, EqualTablesOfTwoNeighboursCountTwice) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const PlanProblem problem = ReadTwice(seed);
    const SubstitutionBound costs(problem);
    const problem::Table& read = problem.tables[0];
    for (int a = 0; a < read.rows; ++a) {
      for (int b = 0; b < read.rows; ++b) {
        // Brute force over the two neighbours.
        Picoseconds worst{INT64_MIN};
        for (int x = 0; x < read.columns; ++x) {
          for (int y = 0; y < read.columns; ++y) {
            worst = std::max(worst, *read.at(b, x) - *read.at(a, x) +
                                        (*read.at(b, y) - *read.at(a, y)));
          }
        }
        EXPECT_EQ(*costs.Bound(kFirst, a, b), worst) << seed << a << b;
      }
    }
  }
}

TEST(SubstitutionBoundTest, TheCopiesOfATiedNodeChangeTogether) {
  PlanProblem problem = RandomProblem(1, 3, false);
  problem.nodes[1].tied = true;
  problem.tables[1].entries[0] = Picoseconds(7);
  problem.tables[1].entries[kConfigurations + 1] = Picoseconds(11);
  PlanProblem costlier = problem;
  costlier.tables[1].entries[kConfigurations + 1] = Picoseconds(1000);
  EXPECT_EQ(*SubstitutionBound(costlier).Bound(kSecond, 0, 1) -
                *SubstitutionBound(problem).Bound(kSecond, 0, 1),
            Picoseconds(989));
}

TEST(PruningTest, WhatIsExcludedIsMissedAtNoDepth) {
  int excluded = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    PlanProblem problem = RandomProblem(seed, 2, seed % 3 == 0);
    Standings standings = AllMeasured(problem);
    std::mt19937_64 random(seed);
    std::set<int> estimated;
    for (int c = 0; c < kConfigurations; ++c) {
      if (random() % 3 == 0) continue;
      estimated.insert(c);
      standings[1][c] = Standing::kEstimated;
    }
    // Estimates are up to 5 % off.
    PlanProblem guessed = problem;
    for (int c : estimated) {
      auto& time = guessed.types[1].configs[c].time;
      time = Picoseconds(time.count() * (950 + random() % 101) / 1000);
    }
    const Pruning pruning = Prune(guessed, standings, {0, 0.06, 0}, 0);
    excluded += static_cast<int>(pruning.excluded.size());
    EXPECT_EQ(pruning.excluded.size() + pruning.open.size(), estimated.size());
    std::vector<int> kept;
    for (int c = 0; c < kConfigurations; ++c) {
      const bool out = std::any_of(
          pruning.excluded.begin(), pruning.excluded.end(),
          [&](const Exclusion& it) { return it.configuration == c; });
      if (!out) kept.push_back(c);
    }
    for (int depth : {1, 2, 3, 24}) {
      problem.nodes[1].repeat = depth;
      PlanProblem fewer = problem;
      fewer.fixed[1] = kept;
      const auto all = search::Solve(problem);
      const auto some = search::Solve(fewer);
      ASSERT_TRUE(all.ok() && some.ok());
      if (depth > 1) {
        EXPECT_EQ(all->plan->time, some->plan->time) << seed << " " << depth;
      }
    }
  }
  EXPECT_GT(excluded, 60);
}

TEST(PruningTest, WhatIsExcludedIsNotMissedBesideEqualNeighbours) {
  int excluded = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    PlanProblem problem = ReadTwice(seed);
    std::mt19937_64 random(seed);
    for (auto& config : problem.types[0].configs) {
      config.time = Picoseconds(random() % 500);
    }
    Standings standings = AllMeasured(problem);
    standings[0] = {Standing::kMeasured, Standing::kEstimated,
                    Standing::kEstimated};
    const Pruning pruning = Prune(problem, standings, {0, 0, 0}, 0);
    PlanProblem fewer = problem;
    for (const Exclusion& it : pruning.excluded) {
      fewer.forbidden[0].push_back(it.configuration);
      ++excluded;
    }
    const auto all = search::Solve(problem);
    const auto some = search::Solve(fewer);
    ASSERT_TRUE(all.ok() && some.ok());
    EXPECT_EQ(all->plan->time, some->plan->time) << seed;
  }
  EXPECT_GT(excluded, 10);
}

// Copies that share a parameter: a pair that splits it in two ways is no plan.
// The configurations of one decision are those with equal c % decisions; ends
// do not read it.
PlanProblem Bound(PlanProblem problem, const std::vector<int>& decision) {
  problem::Table& between = problem.tables[1];
  for (int a = 0; a < between.rows; ++a) {
    for (int b = 0; b < between.columns; ++b) {
      if (decision[a] == decision[b]) continue;
      between.entries[static_cast<size_t>(a) * between.columns + b] = {};
    }
  }
  return problem;
}

TEST(PruningTest, WhatSharesAParameterIsExcludedTogether) {
  int excluded = 0;
  int over = 0;
  for (uint64_t seed = 0; seed < 90; ++seed) {
    // A second type that reads the parameter, between the copies and the end.
    PlanProblem problem = RandomProblem(seed, 3, false);
    problem.types.insert(problem.types.begin() + 2, problem.types[1]);
    std::mt19937_64 random(seed);
    for (auto& config : problem.types[2].configs) {
      config.time = Picoseconds(1000 + random() % 600);
    }
    problem.nodes = {{0, 1}, {1, 3}, {2, 1}, {3, 1}};
    problem.edges = {{0, 1, 0}, {1, 2, 1}, {2, 3, 2}};
    const int decisions = 2 + static_cast<int>(seed % 5);
    formulation::SharedParameterGroups groups;
    groups.groups = {{{SegmentTypeId(1), SegmentTypeId(2)}, true}};
    groups.group_of_type = {std::nullopt, 0, 0, std::nullopt};
    groups.decision.resize(4);
    for (int c = 0; c < kConfigurations; ++c) {
      for (int t : {1, 2}) groups.decision[t].push_back(c % decisions);
    }
    Standings standings = AllMeasured(problem);
    for (int t : {1, 2}) {
      for (int c = 0; c < kConfigurations; ++c) {
        if (random() % 3 > 0) standings[t][c] = Standing::kEstimated;
      }
    }
    const Pruning pruning = Prune(problem, standings, {0, 0, 0, 0}, 0, groups);
    std::set<int> out[4];
    for (const Exclusion& it : pruning.excluded) {
      out[it.type].insert(it.configuration);
      ++excluded;
      over += groups.decision[it.type][it.configuration] !=
              groups.decision[it.type][it.rival];
    }
    // Nothing left to do while something is open is no answer.
    EXPECT_EQ(
        pruning.open.empty(),
        std::none_of(pruning.open.begin(), pruning.open.end(),
                     [](const OpenConfiguration& it) { return it.next; }));
    problem = Bound(problem, groups.decision[1]);
    for (int depth : {1, 2, 7}) {
      problem.nodes[1].repeat = depth;
      PlanProblem fewer = problem;
      for (int n : {1, 2}) {
        fewer.forbidden[n].assign(out[n].begin(), out[n].end());
      }
      const auto all = search::Solve(problem);
      const auto some = search::Solve(fewer);
      ASSERT_TRUE(all.ok() && some.ok());
      if (depth > 1) {
        EXPECT_EQ(all->plan->time, some->plan->time) << seed << " " << depth;
      }
    }
  }
  EXPECT_GT(excluded, 60);
  EXPECT_GT(over, 10);
}

// Two types share only a part of what each reads: only configurations of one
// decision are rivals.
TEST(PruningTest, AGroupThatIsNotWholeStaysWithItsDecision) {
  PlanProblem problem;
  problem.types = {
      {"one", {{Picoseconds(100)}, {Picoseconds(200)}, {Picoseconds(300)}}}};
  problem.nodes = {{0, 1}};
  const Standings standings = {
      {Standing::kMeasured, Standing::kEstimated, Standing::kEstimated}};
  formulation::SharedParameterGroups groups;
  groups.group_of_type = {0};
  groups.decision = {{0, 0, 1}};
  groups.groups = {{{kFirst}, true}};
  EXPECT_EQ(Prune(problem, standings, {0.05}, 0, groups).excluded.size(), 2u);
  groups.groups = {{{kFirst}, false}};
  const Pruning pruning = Prune(problem, standings, {0.05}, 0, groups);
  ASSERT_EQ(pruning.excluded.size(), 1u);
  EXPECT_EQ(pruning.excluded[0].configuration, 1);
  ASSERT_EQ(pruning.open.size(), 1u);
  EXPECT_TRUE(pruning.open[0].next);
}

TEST(PruningTest, TheMarginDecides) {
  PlanProblem problem;
  problem.types = {{"one", {{Picoseconds(100)}, {Picoseconds(106)}}}};
  problem.nodes = {{0, 1}};
  const Standings standings = {{Standing::kMeasured, Standing::kEstimated}};
  EXPECT_EQ(Prune(problem, standings, {0.05}, 0).excluded.size(), 1u);
  const Pruning open = Prune(problem, standings, {0.07}, 0);
  ASSERT_EQ(open.open.size(), 1u);
  EXPECT_TRUE(open.open[0].next);
}

TEST(PruningTest, ASmallConfigurationStaysWhereMemoryIsShort) {
  PlanProblem problem;
  problem.types = {
      {"one", {{Picoseconds(100), 1000, 0}, {Picoseconds(200), 100, 0}}}};
  problem.nodes = {{0, 1}};
  const Standings standings = {{Standing::kMeasured, Standing::kEstimated}};
  EXPECT_EQ(Prune(problem, standings, {0.05}, 0).excluded.size(), 1u);
  EXPECT_EQ(Prune(problem, standings, {0.05}, 1).excluded.size(), 0u);
}

TEST(PruningTest, TheMostPromisingComeFirstAndOnlyTheseAreNext) {
  PlanProblem problem;
  problem.types = {{"one",
                    {{Picoseconds(1000)},
                     {Picoseconds(900)},
                     {Picoseconds(500)},
                     {Picoseconds(510)}}}};
  problem.nodes = {{0, 1}};
  const Standings standings = {{Standing::kMeasured, Standing::kEstimated,
                                Standing::kEstimated, Standing::kEstimated}};
  const Pruning pruning = Prune(problem, standings, {0.05}, 0);
  ASSERT_EQ(pruning.open.size(), 3u);
  EXPECT_EQ(pruning.open[0].configuration, 2);
  EXPECT_EQ(pruning.open[1].configuration, 3);
  EXPECT_TRUE(pruning.open[1].next);
  EXPECT_EQ(pruning.open[2].configuration, 1);
  EXPECT_FALSE(pruning.open[2].next);
}

TEST(MemoryMultiplierTest, IsNothingWhereTheFastestPlanFits) {
  const PlanProblem problem = RandomProblem(1, 4, false);
  const auto multiplier = FindMemoryMultiplier(problem, 1 << 20);
  ASSERT_TRUE(multiplier.ok()) << multiplier.status();
  EXPECT_EQ(*multiplier, 0);
}

TEST(MemoryMultiplierTest, IsTheLeastOneWhosePlanFits) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const PlanProblem problem = RandomProblem(seed, 4, false);
    const int64_t fastest = search::Solve(problem)->plan->peak_bytes;
    const int64_t limit = fastest * 3 / 4;
    const auto multiplier = FindMemoryMultiplier(problem, limit);
    ASSERT_TRUE(multiplier.ok()) << multiplier.status();
    EXPECT_GT(*multiplier, 0);
    const auto peak = [&](double at) {
      PlanProblem charged = problem;
      for (auto& type : charged.types) {
        for (auto& it : type.configs) {
          it.time += Picoseconds(std::llround(
              at * static_cast<double>(it.persistent_bytes + it.saved_bytes)));
        }
      }
      return search::Solve(charged)->plan->peak_bytes;
    };
    PlanProblem limited = problem;
    limited.memory_limit_bytes = limit;
    if (search::Solve(limited)->plan.has_value()) {
      EXPECT_LE(peak(*multiplier), limit) << seed;
    }
  }
}

// Four nodes that must all differ in one of three configurations: a search that
// is stopped neither finds a plan nor proves that there is none.
TEST(MemoryMultiplierTest, WithoutAnAnswerTheSmallestConfigurationsStay) {
  PlanProblem problem;
  problem.types = {{"node",
                    {{Picoseconds(1), 10, 0, 0},
                     {Picoseconds(1), 20, 0, 0},
                     {Picoseconds(1), 30, 0, 0}}}};
  problem.tables = {{3, 3, {}}};
  problem.tables[0].entries.assign(9, Picoseconds(0));
  for (const int same : {0, 4, 8}) problem.tables[0].entries[same].reset();
  for (int b = 0; b < 4; ++b) {
    problem.nodes.push_back({.type = 0});
    for (int a = 0; a < b; ++a) problem.edges.push_back({a, b, 0});
  }
  std::stop_source source;
  source.request_stop();
  const search::Options stopped = {.deadline = {.stop = source.get_token()}};
  ASSERT_TRUE(
      absl::IsResourceExhausted(search::Solve(problem, stopped).status()));
  const auto multiplier = FindMemoryMultiplier(problem, 50, stopped);
  ASSERT_TRUE(multiplier.ok()) << multiplier.status();
  EXPECT_GT(*multiplier, 0);
  const Standings standings = {
      {Standing::kMeasured, Standing::kEstimated, Standing::kEstimated}};
  const auto optimistic =
      FindOptimisticPlan(problem, standings, {0.05}, 50, stopped);
  ASSERT_TRUE(optimistic.ok()) << optimistic.status();
  EXPECT_TRUE(optimistic->empty());
}

}  // namespace
}  // namespace meshwright::selection
