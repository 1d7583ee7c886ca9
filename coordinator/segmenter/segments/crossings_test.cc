#include "coordinator/segmenter/segments/crossings.h"

#include <gtest/gtest.h>

#include <optional>

namespace meshwright::segmenter {
namespace {

constexpr SegmentIndex kFirst(1);
constexpr SegmentIndex kSecond(2);

TEST(CrossingsTest, GivesEveryValueOnceInTheOrderTheyCame) {
  Crossings crossings;
  crossings.Add({8, 4}, kFirst, 3);
  crossings.Add({8, 4}, kFirst, 5);
  EXPECT_EQ(crossings.Take({8, 4}, {kFirst}), 3);
  EXPECT_EQ(crossings.Take({8, 4}, {kFirst}), 5);
  EXPECT_EQ(crossings.Take({8, 4}, {kFirst}), std::nullopt);
}

TEST(CrossingsTest, TellsDimensionsAndSegmentsApart) {
  Crossings crossings;
  crossings.Add({8, 4}, kFirst, 3);
  EXPECT_EQ(crossings.Take({4, 8}, {kFirst}), std::nullopt);
  EXPECT_EQ(crossings.Take({8, 4}, {kSecond}), std::nullopt);
  EXPECT_EQ(crossings.Take({8, 4}, {kSecond, kFirst}), 3);
}

TEST(CrossingsTest, AValueForTwoSegmentsIsTakenForBoth) {
  Crossings crossings;
  crossings.Add({8}, kFirst, 3);
  crossings.Add({8}, kSecond, 3);
  crossings.Add({8}, kSecond, 4);
  EXPECT_EQ(crossings.Take({8}, {kFirst}), 3);
  EXPECT_EQ(crossings.Take({8}, {kFirst, kSecond}), 4);
}

}  // namespace
}  // namespace meshwright::segmenter
