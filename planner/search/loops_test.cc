#include "planner/search/loops.h"

#include <gtest/gtest.h>

#include <random>

namespace meshwright::search {
namespace {

TEST(LoopsTest, FillsAsFastAsAnyRounds) {
  int found = 0;
  for (int seed = 0; seed < 3000; ++seed) {
    std::mt19937_64 random(seed);
    const auto make = [&] {
      return Loop{Closed(1 + random() % 4), static_cast<Cost>(random() % 30),
                  static_cast<int64_t>(random() % 30)};
    };
    const Loop first = make();
    const Loop second = make();
    const int64_t steps = random() % 40;
    const int64_t room = random() % 400;
    std::optional<Cost> least;
    for (int64_t a = 0; a * first.length() <= steps; ++a) {
      const int64_t left = steps - a * first.length();
      const int64_t b = left / second.length();
      if (left % second.length() != 0) continue;
      if (a * first.bytes + b * second.bytes > room) continue;
      const Cost time = a * first.time + b * second.time;
      least = std::min(least.value_or(time), time);
    }
    const auto rounds = Fill(first, second, steps, room);
    ASSERT_EQ(rounds.has_value(), least.has_value()) << seed;
    if (!rounds.has_value()) continue;
    ++found;
    EXPECT_EQ(rounds->first * first.length() + rounds->second * second.length(),
              steps);
    EXPECT_LE(rounds->first * first.bytes + rounds->second * second.bytes,
              room);
    EXPECT_EQ(rounds->first * first.time + rounds->second * second.time, *least)
        << seed;
  }
  EXPECT_GT(found, 1000);
}

Block BlockOfFour() {
  Block block{.copies = 12,
              .configs = {0, 1, 2, 3},
              .time = {1, 2, 3, 4},
              .bytes = {10, 20, 30, 40},
              .transient = {0, 0, 0, 0}};
  block.inner = {4, 4, std::vector<Cost>(16, 5)};
  return block;
}

TEST(LoopsTest, ThoseThatMostCopiesGoRound) {
  const Block block = BlockOfFour();
  const auto loops =
      LoopsOf(block, {3, 1, 0, 1, 0, 1, 0, 1, 2}, {1, 2, 2, 2, 2, 2, 2, 1, 0});
  ASSERT_EQ(loops.size(), 2);
  EXPECT_EQ(loops[0].vertices, (Closed{0, 1}));
  EXPECT_EQ(loops[0].time, 5 + 2 + 5 + 1);
  EXPECT_EQ(loops[0].bytes, 30);
  EXPECT_EQ(loops[1].vertices, (Closed{2}));
}

TEST(LoopsTest, ThatMeetBeginWhereTheyMeet) {
  const Block block = BlockOfFour();
  const auto loops =
      LoopsOf(block, {0, 2, 0, 2, 0, 2}, {1, 2, 3, 1, 2, 3, 1, 2, 3, 1});
  ASSERT_EQ(loops.size(), 2);
  EXPECT_EQ(loops[0].vertices, (Closed{2, 0}));
  EXPECT_EQ(loops[1].vertices, (Closed{2, 3, 1}));
}

TEST(LoopsTest, AWalkWithoutReturnHasNone) {
  EXPECT_TRUE(LoopsOf(BlockOfFour(), {0, 1, 2, 3}, {}).empty());
}

}  // namespace
}  // namespace meshwright::search
