#include "planner/search/reorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace meshwright::search {
namespace {

using Steps = std::map<std::pair<int, int>, int>;

Steps StepsOf(const std::vector<int>& walk) {
  Steps steps;
  for (size_t i = 0; i + 1 < walk.size(); ++i) ++steps[{walk[i], walk[i + 1]}];
  return steps;
}

TEST(ReorderTest, NoOrderOfTheSameStepsIsSmaller) {
  int changed = 0;
  for (int seed = 0; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<int> walk;
    for (int i = 1 + random() % 8; i > 0; --i) walk.push_back(random() % 3);
    const std::vector<int> smallest = SmallestOrder(walk);
    std::vector<int> least = walk;
    std::vector<int> other = walk;
    std::sort(other.begin(), other.end());
    do {
      if (other.front() == walk.front() && StepsOf(other) == StepsOf(walk)) {
        least = std::min(least, other);
      }
    } while (std::next_permutation(other.begin(), other.end()));
    EXPECT_EQ(smallest, least) << seed;
    changed += smallest != walk ? 1 : 0;
  }
  EXPECT_GT(changed, 20);
}

TEST(ReorderTest, AWalkOfOneOrNoneStays) {
  EXPECT_TRUE(SmallestOrder({}).empty());
  EXPECT_EQ(SmallestOrder({7}), std::vector<int>{7});
}

}  // namespace
}  // namespace meshwright::search
