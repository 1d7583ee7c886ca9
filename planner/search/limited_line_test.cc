// Long runs under a limit, against a dynamic program over every sum of bytes.
#include "planner/search/limited_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <random>
#include <set>

#include "planner/problem/problem_json.h"
#include "planner/search/blocks.h"
#include "planner/search/search.h"

namespace meshwright::search {
namespace {

using problem::Picoseconds;
using problem::PlanProblem;

int64_t BytesOf(const problem::Config& config) {
  return config.persistent_bytes + config.saved_bytes;
}

// Least time by configuration of the last copy and by bytes so far.
class Sums {
 public:
  Sums(const PlanProblem& problem, int64_t limit)
      : problem_(problem), limit_(limit) {}

  // The nodes are a chain in file order.
  std::optional<int64_t> Least() {
    std::set<int64_t> transients;
    for (const auto& type : problem_.types) {
      for (const auto& config : type.configs) {
        transients.insert(config.transient_bytes);
      }
    }
    std::optional<int64_t> least;
    for (const int64_t transient : transients) {
      const int64_t room = limit_ - transient;
      if (room < 0) continue;
      for (const auto& row : Rows(transient, room)) {
        for (const int32_t time : row) {
          if (time >= kNone) continue;
          least = std::min<int64_t>(least.value_or(time), time);
        }
      }
    }
    return least;
  }

 private:
  // In 32 bits, and without a branch, because this is most of the test: times
  // are small, and nothing that is added to kNone brings it below.
  using Table = std::vector<std::vector<int32_t>>;
  static constexpr int32_t kNone = 1 << 30;

  Table Rows(int64_t transient, int64_t room) const {
    Table before;
    for (size_t n = 0; n < problem_.nodes.size(); ++n) {
      const problem::Node& node = problem_.nodes[n];
      for (int64_t copy = 0; copy < node.repeat; ++copy) {
        const problem::Table* table = nullptr;
        if (copy > 0) {
          table = SelfTable(node.type);
        } else if (n > 0) {
          table = &problem_.tables[problem_.edges[n - 1].table];
        }
        before = Next(before, problem_.types[node.type].configs, table,
                      transient, room);
      }
    }
    return before;
  }

  const problem::Table* SelfTable(int type) const {
    for (const auto& edge : problem_.self_edges) {
      if (edge.type == type) return &problem_.tables[edge.table];
    }
    return nullptr;
  }

  static Table Next(const Table& before,
                    const std::vector<problem::Config>& configs,
                    const problem::Table* table, int64_t transient,
                    int64_t room) {
    Table after(configs.size(), std::vector<int32_t>(room + 1, kNone));
    for (size_t d = 0; d < configs.size(); ++d) {
      const int64_t bytes = BytesOf(configs[d]);
      if (configs[d].transient_bytes > transient || bytes > room) continue;
      if (before.empty()) {
        after[d][bytes] = static_cast<int32_t>(configs[d].time.count());
        continue;
      }
      for (size_t c = 0; c < before.size(); ++c) {
        auto step = static_cast<int32_t>(configs[d].time.count());
        if (table != nullptr) {
          const auto& entry = table->at(c, d);
          if (!entry.has_value()) continue;
          step += static_cast<int32_t>(entry->count());
        }
        const int32_t* const from = before[c].data();
        int32_t* const to = after[d].data() + bytes;
        for (int64_t sum = 0; sum <= room - bytes; ++sum) {
          to[sum] = std::min(to[sum], from[sum] + step);
        }
      }
    }
    return after;
  }

  const PlanProblem& problem_;
  const int64_t limit_;
};

// A chain of one or two long runs, with single nodes before, between, after.
PlanProblem LongChain(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int64_t bound) {
    return static_cast<int64_t>(random() % bound);
  };
  const int64_t spread = below(3) == 0 ? 4 : 60;
  const bool has_holes = below(4) == 0;
  const bool is_line = below(3) == 0;
  PlanProblem problem;
  const int types = 1 + static_cast<int>(below(3));
  for (int t = 0; t < types; ++t) {
    problem::NodeType type;
    for (int64_t c = 1 + below(5); c > 0; --c) {
      const int64_t time = below(spread);
      const int64_t bytes = is_line ? (spread - time) / 4 : below(12);
      type.configs.push_back({Picoseconds(time), bytes, 0, below(8)});
    }
    problem.types.push_back(type);
  }
  const auto table = [&](int from, int to) {
    const int rows = static_cast<int>(problem.types[from].configs.size());
    const int columns = static_cast<int>(problem.types[to].configs.size());
    problem::Table made{rows, columns, {}};
    for (int i = 0; i < rows * columns; ++i) {
      made.entries.push_back(Picoseconds(below(1 + spread / 3)));
      if (has_holes && below(4) == 0) made.entries.back().reset();
    }
    problem.tables.push_back(made);
    return static_cast<int>(problem.tables.size()) - 1;
  };
  for (int t = 0; t < types; ++t) {
    if (below(4) > 0) problem.self_edges.push_back({t, table(t, t)});
  }
  const int nodes = 1 + static_cast<int>(below(4));
  for (int n = 0; n < nodes; ++n) {
    const int type = static_cast<int>(below(types));
    const bool is_long = n == 0 || below(3) == 0;
    problem.nodes.push_back(
        {.type = type, .repeat = is_long ? kLong + below(16) : 1 + below(3)});
    if (n == 0) continue;
    const int from = problem.nodes[n - 1].type;
    problem.edges.push_back({n - 1, n, table(from, type)});
  }
  if (below(2) == 0) {  // the first node gets another in front
    std::swap(problem.nodes.front(), problem.nodes.back());
    problem.edges.clear();
    for (int n = 1; n < nodes; ++n) {
      problem.edges.push_back(
          {n - 1, n, table(problem.nodes[n - 1].type, problem.nodes[n].type)});
    }
  }
  return problem;
}

// The oracle takes 7 ms a chain: all of them only where that is asked for.
int Chains() { return std::getenv("MESHWRIGHT_LONG") != nullptr ? 1500 : 200; }

// Few leave walks cut late, many at once.
constexpr int64_t kTails[] = {1, 16, 4096};

TEST(LimitedLineTest, AgreesWithEverySumOfBytes) {
  const int chains = Chains();
  int limited = 0;
  int by_detours = 0;
  for (int seed = 0; seed < chains; ++seed) {
    PlanProblem problem = LongChain(seed);
    const auto fastest = Solve(problem);
    ASSERT_TRUE(fastest.ok()) << fastest.status();
    if (!fastest->plan.has_value() || fastest->plan->peak_bytes == 0) continue;
    std::mt19937_64 random(seed);
    problem.memory_limit_bytes = random() % fastest->plan->peak_bytes;
    SCOPED_TRACE(problem::ProblemToJson(problem));
    const auto answer = Solve(problem);
    ASSERT_TRUE(answer.ok()) << answer.status();
    const std::optional<int64_t> least =
        Sums(problem, *problem.memory_limit_bytes).Least();
    ASSERT_EQ(answer->plan.has_value(), least.has_value()) << seed;
    if (!least.has_value()) continue;
    ++limited;
    ASSERT_EQ(answer->plan->time.count(), *least) << seed;
    ASSERT_EQ(answer->lower_bound.count(), *least) << seed;
    for (const int64_t tails : kTails) {
      const auto met =
          Solve(problem, {.effort = {.plain_candidates = 0, .tails = tails}});
      ASSERT_TRUE(met.ok()) << met.status();
      ASSERT_EQ(met->plan->time.count(), *least) << seed << ", " << tails;
      ASSERT_EQ(met->lower_bound.count(), *least) << seed << ", " << tails;
    }
    const bool is_plain = answer->solver.find("labels") == std::string::npos;
    by_detours += is_plain ? 1 : 0;
  }
  EXPECT_GT(limited * 4, chains);
  EXPECT_GT(by_detours * 10, limited * 9);
}

constexpr int64_t kTooMany = 1 << 29;  // bytes

// A chain as LongChain, and a node of it, of one copy, that is joined to
// others.
struct Joined {
  PlanProblem problem;
  int hub = 0;
  std::vector<problem::Edge> edges;  // beside those of the chain
};

Joined LongRing(uint64_t seed) {
  Joined made{.problem = LongChain(seed)};
  PlanProblem& problem = made.problem;
  std::mt19937_64 random(seed);
  const int nodes = static_cast<int>(problem.nodes.size());
  if (nodes < 3) return made;
  made.hub = static_cast<int>(random() % nodes);
  problem.nodes[made.hub].repeat = 1;
  problem.nodes[(made.hub + 1) % nodes].repeat = kLong + random() % 16;
  for (int n = 0; n < nodes; ++n) {
    if (n == made.hub || (nodes > 3 && random() % 3 == 0)) continue;
    const int from = std::min(n, made.hub);
    const int to = std::max(n, made.hub);
    const auto size = [&](int node) {
      return problem.types[problem.nodes[node].type].configs.size();
    };
    problem::Table table{
        static_cast<int>(size(from)), static_cast<int>(size(to)), {}};
    for (size_t i = 0; i < size(from) * size(to); ++i) {
      table.entries.push_back(Picoseconds(random() % 30));
      if (random() % 8 == 0) table.entries.back().reset();
    }
    problem.tables.push_back(table);
    made.edges.push_back(
        {from, to, static_cast<int>(problem.tables.size()) - 1});
  }
  return made;
}

// The chain alone, every copy a node, with the hub at one configuration; what
// its other edges cost is added to the copies they touch.
PlanProblem Unrolled(const Joined& ring, int config) {
  const PlanProblem& whole = ring.problem;
  PlanProblem chain;
  for (int n = 0; n < static_cast<int>(whole.nodes.size()); ++n) {
    const problem::Node& node = whole.nodes[n];
    const problem::NodeType& type = whole.types[node.type];
    const int size = static_cast<int>(type.configs.size());
    for (int64_t copy = 0; copy < node.repeat; ++copy) {
      const int made = static_cast<int>(chain.nodes.size());
      chain.types.push_back(type);
      chain.nodes.push_back({.type = made});
      for (int c = 0; c < size; ++c) {
        problem::Config& own = chain.types.back().configs[c];
        if (n == ring.hub && c != config) own.persistent_bytes = kTooMany;
        for (const problem::Edge& edge : ring.edges) {
          const bool is_to = edge.to == n && edge.from == ring.hub;
          const bool is_from = edge.from == n && edge.to == ring.hub;
          const problem::Table& table = whole.tables[edge.table];
          if (is_to && copy == 0) {
            const auto& entry = table.at(config, c);
            if (!entry.has_value()) own.persistent_bytes = kTooMany;
            own.time += entry.value_or(Picoseconds(0));
          }
          if (is_from && copy + 1 == node.repeat) {
            const auto& entry = table.at(c, config);
            if (!entry.has_value()) own.persistent_bytes = kTooMany;
            own.time += entry.value_or(Picoseconds(0));
          }
        }
      }
      if (made == 0) continue;
      problem::Table step{size, size, {}};
      step.entries.assign(static_cast<size_t>(size) * size, Picoseconds(0));
      if (copy == 0) step = whole.tables[whole.edges[n - 1].table];
      for (const problem::SelfEdge& edge : whole.self_edges) {
        if (copy > 0 && edge.type == node.type) step = whole.tables[edge.table];
      }
      chain.tables.push_back(step);
      chain.edges.push_back({made - 1, made, made - 1});
    }
  }
  return chain;
}

TEST(LimitedLineTest, RingsAgreeWithEverySumOfBytes) {
  const int rings = Chains() / 4;
  int limited = 0;
  int by_detours = 0;
  for (int seed = 0; seed < rings; ++seed) {
    const Joined ring = LongRing(seed);
    if (ring.edges.empty()) continue;
    PlanProblem problem = ring.problem;
    problem.edges.insert(problem.edges.end(), ring.edges.begin(),
                         ring.edges.end());
    const auto fastest = Solve(problem);
    ASSERT_TRUE(fastest.ok()) << fastest.status();
    if (!fastest->plan.has_value() || fastest->plan->peak_bytes == 0) continue;
    std::mt19937_64 random(seed);
    const int64_t peak = fastest->plan->peak_bytes;
    problem.memory_limit_bytes = peak / 2 + random() % (peak - peak / 2);
    SCOPED_TRACE(problem::ProblemToJson(problem));
    const auto answer = Solve(problem);
    ASSERT_TRUE(answer.ok()) << answer.status();
    std::optional<int64_t> least;
    const int hub_type = problem.nodes[ring.hub].type;
    const int configs =
        static_cast<int>(problem.types[hub_type].configs.size());
    for (int c = 0; c < configs; ++c) {
      const auto time =
          Sums(Unrolled(ring, c), *problem.memory_limit_bytes).Least();
      if (time.has_value()) least = std::min(least.value_or(*time), *time);
    }
    ASSERT_EQ(answer->plan.has_value(), least.has_value()) << seed;
    if (!least.has_value()) continue;
    ++limited;
    ASSERT_EQ(answer->plan->time.count(), *least) << seed;
    ASSERT_EQ(answer->lower_bound.count(), *least) << seed;
    const bool is_plain = answer->solver.find("labels") == std::string::npos;
    by_detours += is_plain ? 1 : 0;
  }
  EXPECT_GT(limited * 5, rings);
  EXPECT_GT(by_detours * 10, limited * 9);
}

// Layers of gibibytes and milliseconds, where leftovers are rounded off; time
// and bytes all but on a line, so that many plans are nearly the fastest.
PlanProblem LargeChain(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto between = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % (high - low));
  };
  const int64_t resharding = seed % 2 == 0 ? 4'000'000'000 : 400'000'000;
  PlanProblem problem;
  for (const int configs : {3, 9, 4}) {
    problem::NodeType type;
    for (int c = 0; c < configs; ++c) {
      const int64_t time = between(27'000'000'000, 64'000'000'000);
      type.configs.push_back({Picoseconds(time + between(0, 40'000'000)),
                              (70'000'000'000 - time) / 100, 0,
                              between(0, 4) * 50'000'000});
    }
    problem.types.push_back(type);
  }
  const auto table = [&](int from, int to) {
    const int rows = static_cast<int>(problem.types[from].configs.size());
    const int columns = static_cast<int>(problem.types[to].configs.size());
    problem::Table made{rows, columns, {}};
    for (int i = 0; i < rows * columns; ++i) {
      made.entries.push_back(Picoseconds(between(0, resharding)));
    }
    problem.tables.push_back(made);
    return static_cast<int>(problem.tables.size()) - 1;
  };
  problem.nodes = {{.type = 0}, {.type = 1, .repeat = between(20, 60)}};
  if (seed % 3 > 0) problem.nodes.push_back({.type = 2});
  if (seed % 3 > 1) problem.nodes.push_back({.type = 0});
  problem.self_edges = {{1, table(1, 1)}};
  for (int n = 1; n < static_cast<int>(problem.nodes.size()); ++n) {
    problem.edges.push_back(
        {n - 1, n, table(problem.nodes[n - 1].type, problem.nodes[n].type)});
  }
  return problem;
}

TEST(LimitedLineTest, TailsAndSharperBoundsLeaveTheSamePlan) {
  int limited = 0;
  for (int seed = 0; seed < Chains() / 5; ++seed) {
    PlanProblem problem = LargeChain(seed);
    const auto fastest = Solve(problem);
    ASSERT_TRUE(fastest.ok()) << fastest.status();
    problem.memory_limit_bytes = 0;
    const int64_t least = *Solve(problem)->least_memory_bytes;
    const int64_t span = fastest->plan->peak_bytes - least;
    problem.memory_limit_bytes = least + span / 10 * (1 + seed % 9);
    const int64_t many = Effort{}.candidates;
    const auto plain = Solve(problem, {.effort = {.plain_candidates = many}});
    ASSERT_TRUE(plain.ok());
    ASSERT_EQ(plain->Gap(), 0) << seed;
    for (const int64_t tails : kTails) {
      const auto met =
          Solve(problem, {.effort = {.plain_candidates = 0, .tails = tails}});
      ASSERT_TRUE(met.ok());
      ASSERT_EQ(met->Gap(), 0) << seed << ", " << tails;
      ASSERT_EQ(met->plan->time, plain->plan->time) << seed << ", " << tails;
    }
    limited += plain->solver.find("detours") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(limited * 2, Chains() / 5);
}

}  // namespace
}  // namespace meshwright::search
