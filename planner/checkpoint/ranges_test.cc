#include "planner/checkpoint/ranges.h"

#include <gtest/gtest.h>

#include <string>

namespace meshwright::checkpoint {
namespace {

// Not commutative, and no item may count twice.
struct Text {
  std::string text;

  Text With(const Text& right) const { return {text + right.text}; }
};

TEST(RangesTest, SumsEveryRangeInOrder) {
  for (int count = 0; count <= 70; ++count) {
    std::vector<Text> items;
    for (int i = 0; i < count; ++i) items.push_back({std::to_string(i) + ","});
    const Ranges<Text> ranges(items);
    for (int i = 0; i < count; ++i) {
      Text sum = items[i];
      for (int j = i; j < count; ++j) {
        if (j > i) sum = sum.With(items[j]);
        ASSERT_EQ(ranges.Combine(i, j).text, sum.text);
      }
    }
  }
}

}  // namespace
}  // namespace meshwright::checkpoint
