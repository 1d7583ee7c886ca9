#include "base/strong_id.h"

#include <gtest/gtest.h>

#include <type_traits>
#include <unordered_set>
#include <vector>

#include "base/index_range.h"

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

TEST(StrongIndexTest, HashesAsItsNumber) {
  const std::unordered_set<Apple> apples = {Apple(1), Apple(2), Apple(1)};
  EXPECT_EQ(apples.size(), 2u);
  EXPECT_TRUE(apples.contains(Apple(2)));
}

TEST(IndexRangeTest, CountsUpAndDown) {
  const auto list = [](const IndexRange<Apple>& range) {
    std::vector<size_t> numbers;
    for (const Apple apple : range) numbers.push_back(apple.value());
    return numbers;
  };
  EXPECT_EQ(list(IndexRange<Apple>(3)), (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(list(IndexRange<Apple>(3).Reversed()),
            (std::vector<size_t>{2, 1, 0}));
  EXPECT_TRUE(list(IndexRange<Apple>(0)).empty());
  EXPECT_TRUE(list(IndexRange<Apple>(0).Reversed()).empty());
}

TEST(StrongIndexTest, IsOrderedByItsNumber) {
  EXPECT_LT(Apple(1), Apple(2));
  EXPECT_EQ(Apple(2).value(), 2u);
}

}  // namespace
}  // namespace meshwright::base
