#include "planner/search/bracket.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace meshwright::search {
namespace {

constexpr int64_t kMebi = int64_t{1} << 20;

// Plans to choose from; a price leads to the one of the least line.
struct Plans {
  std::vector<Point> all;
  int64_t room = 0;

  static Cost LineOf(const Point& plan, int64_t price) {
    return plan.time + price * (plan.bytes / kMebi);
  }
  Point At(int64_t price) const {
    return *std::min_element(all.begin(), all.end(),
                             [&](const Point& a, const Point& b) {
                               return LineOf(a, price) < LineOf(b, price);
                             });
  }
  Cost Bound(int64_t price) const {
    return LineOf(At(price), price) - price * (room / kMebi);
  }
};

Plans RandomPlans(uint64_t seed) {
  std::mt19937_64 random(seed);
  Plans plans;
  for (int i = 0; i < 30; ++i) {
    plans.all.push_back({static_cast<Cost>(random() % 100'000),
                         static_cast<int64_t>(random() % 1000) * kMebi});
  }
  plans.room = static_cast<int64_t>(random() % 1000) * kMebi;
  return plans;
}

TEST(BracketTest, FindsTheBestPriceFromAnyGuess) {
  constexpr int64_t kDearest = 2000;
  for (int seed = 0; seed < 300; ++seed) {
    const Plans plans = RandomPlans(seed);
    Cost best = 0;
    for (int64_t price = 0; price <= kDearest; ++price) {
      best = std::max(best, plans.Bound(price));
    }
    std::mt19937_64 random(seed + 1000);
    const int64_t first = static_cast<int64_t>(random() % 500);
    Bracket bracket({static_cast<Cost>(random() % 1000), 1000 * kMebi},
                    {100'000, 0}, first, kDearest);
    Cost found = 0;
    int64_t price = first;
    int rounds = 0;
    while (true) {
      ASSERT_LT(++rounds, 60) << seed;
      found = std::max(found, plans.Bound(price));
      const Point plan = plans.At(price);
      const auto next = bracket.Next(price, plan, plan.bytes <= plans.room);
      if (!next.has_value()) break;
      price = *next;
    }
    // Prices are whole numbers, so that the best may lie beside the crossing.
    EXPECT_GE(found, best - 1000) << seed;
  }
}

}  // namespace
}  // namespace meshwright::search
