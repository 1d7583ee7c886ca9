// Models, their reduction, tables and bounds against enumeration.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "planner/search/elimination/buckets.h"
#include "planner/search/elimination/local_improvement.h"
#include "planner/search/elimination/message_passing.h"
#include "planner/search/elimination/order.h"
#include "planner/search/elimination/restrict.h"
#include "planner/search/graph/model.h"
#include "planner/search/testing/random_problem.h"

namespace meshwright::search {
namespace {

const base::Deadline kOn;

Model RandomModel(int seed) {
  Kinds kinds{.shuffled = true,
              .tied = true,
              .nulls = seed % 2 == 0,
              .skeleton = static_cast<Skeleton>(seed % 4),
              .copies = 5};
  return LaidOutModel(BuildGraph(RandomProblem(seed, kinds)));
}

// Every choice of values, in lexicographic order.
template <typename Visit>
void ForEachChoice(const Model& model, const Visit& visit) {
  if (!model.IsPossible()) return;
  std::vector<int> values(model.variables.size(), 0);
  while (true) {
    visit(values);
    size_t v = values.size();
    while (v > 0 && ++values[v - 1] == model.size(v - 1)) values[--v] = 0;
    if (v == 0) return;
  }
}

Cost SumCost(const Model& model, const std::vector<int>& values,
             int64_t multiplier = 0) {
  Cost cost = model.base;
  for (size_t v = 0; v < values.size(); ++v) {
    const Domain& domain = model.domain(v);
    cost = Clamp(cost + domain.time[values[v]] +
                 Charge(multiplier, domain.bytes[values[v]]));
  }
  for (const Model::Join& join : model.joins) {
    cost = Clamp(
        cost + model.matrices[join.matrix].at(values[join.a], values[join.b]));
  }
  return cost;
}

int64_t FindLargestTransient(const Model& model,
                             const std::vector<int>& values) {
  int64_t largest = 0;
  for (size_t v = 0; v < values.size(); ++v) {
    largest = std::max(largest, model.domain(v).transient[values[v]]);
  }
  return largest;
}

struct Best {
  Cost cost = kNever;
  std::vector<int> configs;  // of the smallest
};

Best FindBest(const Model& model, int64_t multiplier = 0) {
  Best best;
  ForEachChoice(model, [&](const std::vector<int>& values) {
    const Cost cost = SumCost(model, values, multiplier);
    if (cost >= best.cost) return;
    best.cost = cost;
    best.configs.clear();
    for (size_t v = 0; v < values.size(); ++v) {
      best.configs.push_back(model.domain(v).configs[values[v]]);
    }
  });
  return best;
}

constexpr int64_t kMultiplier = int64_t{1} << 19;  // half a picosecond per byte

TEST(ModelTest, RestrictingAbsorbsWhatIsDecided) {
  std::mt19937_64 random(4);
  for (int seed = 0; seed < 300; ++seed) {
    const Model model = RandomModel(seed);
    Keep keep(model.variables.size());
    for (size_t v = 0; v < keep.size(); ++v) {
      for (int c = 0; c < model.size(v); ++c) {
        if (keep[v].empty() || random() % 2 == 0) keep[v].push_back(c);
      }
    }
    const Model restricted = Restrict(model, keep);
    for (const Model::Join& join : restricted.joins) {
      ASSERT_GT(restricted.size(join.a), 1);
      ASSERT_GT(restricted.size(join.b), 1);
    }
    ForEachChoice(restricted, [&](const std::vector<int>& values) {
      std::vector<int> there(values.size());
      for (size_t v = 0; v < values.size(); ++v) there[v] = keep[v][values[v]];
      ASSERT_EQ(SumCost(restricted, values), SumCost(model, there));
    });
  }
}

TEST(BucketsTest, WholeOnesAreExactAndSplitOnesABound) {
  int split = 0;
  for (int seed = 0; seed < 600; ++seed) {
    const Model model = RandomModel(seed);
    const Order order = ChooseOrder(model, kOn);
    ASSERT_EQ(order.sequence.size(), model.variables.size());
    const Cost best = FindBest(model, kMultiplier).cost;
    const Buckets whole(model, kMultiplier, order.sequence, 1 << 20, nullptr,
                        kOn);
    ASSERT_TRUE(whole.is_exact());
    ASSERT_EQ(whole.bound(), best) << seed;
    const Buckets parts(model, kMultiplier, order.sequence, 3, nullptr, kOn);
    ASSERT_LE(parts.bound(), best) << seed;
    split += parts.is_exact() ? 0 : 1;
  }
  EXPECT_GT(split, 100);
}

// Along any choice, bound plus additions is its cost.
TEST(BucketsTest, AdditionsAddUpToTheCost) {
  for (int seed = 0; seed < 300; ++seed) {
    const Model model = RandomModel(seed);
    const Order order = ChooseOrder(model, kOn);
    for (const int64_t entries : {3, 1 << 20}) {
      const Buckets buckets(model, kMultiplier, order.sequence, entries,
                            nullptr, kOn);
      if (buckets.bound() >= kNever) continue;
      std::vector<Cost> additions;
      ForEachChoice(model, [&](const std::vector<int>& values) {
        const Cost cost = SumCost(model, values, kMultiplier);
        if (cost >= kNever) return;
        Cost sum = buckets.bound();
        for (size_t v = 0; v < values.size(); ++v) {
          buckets.Additions(v, values, additions);
          ASSERT_GE(additions[values[v]], 0);
          ASSERT_EQ(additions[values[v]], buckets.Addition(v, values));
          sum += additions[values[v]];
        }
        ASSERT_EQ(sum, cost) << seed;
      });
    }
  }
}

TEST(MessagePassingTest, BoundTheBestAndKeepAllThatIsAsGood) {
  int exact = 0;
  for (int seed = 0; seed < 600; ++seed) {
    const Model model = RandomModel(seed);
    const int64_t free_transient = seed % 3 == 0 ? 20 : kNever;
    // The cost that must be within the cutoff.
    const auto weigh = [&](const std::vector<int>& values) {
      const int64_t counts =
          FindLargestTransient(model, values) - free_transient;
      return Clamp(SumCost(model, values, kMultiplier) +
                   Charge(kMultiplier, std::max<int64_t>(0, counts)));
    };
    Cost best = kNever;
    ForEachChoice(model, [&](const std::vector<int>& values) {
      best = std::min(best, weigh(values));
    });
    const Cost max_cost = best >= kNever ? kNever - 1 : best + seed % 5;
    const Cutoff cutoff{kMultiplier, max_cost, free_transient};
    // Every other one starts from another multiplier.
    MessagePassing passing(
        model, seed % 2 == 0 ? cutoff : Cutoff{.multiplier = kMultiplier / 3});
    if (seed % 2 == 1) {
      passing.Pass(kOn);
      passing.SetCutoff(cutoff);
    }
    bool is_possible = true;
    for (int pass = 0; pass < 4 && is_possible; ++pass) {
      is_possible = passing.Pass(kOn);
      if (best < kNever) {
        ASSERT_TRUE(is_possible) << seed;
        ASSERT_LE(passing.bound(), best) << seed;
      }
    }
    if (best >= kNever) continue;
    exact += passing.bound() == best ? 1 : 0;
    const Keep alive = passing.Alive();
    const Potentials moved = passing.Moved();
    ForEachChoice(model, [&](const std::vector<int>& values) {
      const Cost cost = SumCost(model, values, kMultiplier);
      if (weigh(values) > max_cost) return;
      Cost sum = moved.base;
      for (size_t v = 0; v < values.size(); ++v) {
        ASSERT_TRUE(
            std::binary_search(alive[v].begin(), alive[v].end(), values[v]))
            << seed;
        ASSERT_GE(moved.own[v][values[v]], 0);
        sum += moved.own[v][values[v]];
      }
      for (size_t j = 0; j < model.joins.size(); ++j) {
        const Cost entry = moved.joins[j].at(values[model.joins[j].a],
                                             values[model.joins[j].b]);
        ASSERT_GE(entry, 0);
        sum += entry;
      }
      ASSERT_EQ(sum, cost) << seed;
    });
  }
  EXPECT_GT(exact, 200);
}

TEST(ImproveTest, MixesAndPolishesWithinTheLimit) {
  int better = 0;
  for (int seed = 0; seed < 300; ++seed) {
    const Model model = RandomModel(seed * 2 + 1);
    std::vector<int> small(model.variables.size(), 0);
    std::vector<int> fast(model.variables.size());
    for (size_t v = 0; v < fast.size(); ++v) fast[v] = model.size(v) - 1;
    const Draft from(model, small);
    const int64_t limit = from.peak() + 20;
    const std::vector<int> mixed = Mix(model, small, fast, limit, kOn);
    const std::vector<int> polished = Polish(model, mixed, limit, kOn);
    const Draft draft(model, polished);
    ASSERT_LE(draft.peak(), limit);
    ASSERT_EQ(draft.time(), SumCost(model, polished));
    ASSERT_LE(draft.time(), Draft(model, mixed).time());
    better += draft.time() < from.time() ? 1 : 0;
  }
  EXPECT_GT(better, 50);
}

}  // namespace
}  // namespace meshwright::search
