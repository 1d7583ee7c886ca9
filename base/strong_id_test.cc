#include "base/strong_id.h"

#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

namespace meshwright::base {
namespace {

using Apple = StrongIndex<struct AppleTag>;
using Pear = StrongIndex<struct PearTag>;

template <typename A, typename B>
concept Comparable = requires(A a, B b) {
  a == b;
};
template <typename A, typename B>
concept Ordered = requires(A a, B b) {
  a < b;
};

// Where one is wanted, neither the other nor a number will do.
static_assert(!std::is_constructible_v<Apple, Pear>);
static_assert(!std::is_convertible_v<size_t, Apple>);
static_assert(Comparable<Apple, Apple> && !Comparable<Apple, Pear>);
static_assert(Ordered<Apple, Apple> && !Ordered<Apple, Pear>);

TEST(StrongIndexTest, CountsOverAVector) {
  const std::vector<int> weights = {3, 1, 2};
  int sum = 0;
  for (Apple apple; apple < weights.size(); ++apple) sum += weights[apple];
  EXPECT_EQ(sum, 6);
}

TEST(StrongIndexTest, IsOrderedByItsNumber) {
  EXPECT_LT(Apple(1), Apple(2));
  EXPECT_EQ(Apple(2).value(), 2u);
}

}  // namespace
}  // namespace meshwright::base
