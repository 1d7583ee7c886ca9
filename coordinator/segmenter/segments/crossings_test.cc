#include "coordinator/segmenter/segments/crossings.h"

#include <gtest/gtest.h>

#include <optional>

namespace meshwright::segmenter {
namespace {

TEST(CrossingsTest, GivesEveryValueOnceInTheOrderTheyCame) {
  Crossings crossings;
  crossings.Add({8, 4}, 1, 3);
  crossings.Add({8, 4}, 1, 5);
  EXPECT_EQ(crossings.Take({8, 4}, {1}), 3);
  EXPECT_EQ(crossings.Take({8, 4}, {1}), 5);
  EXPECT_EQ(crossings.Take({8, 4}, {1}), std::nullopt);
}

TEST(CrossingsTest, TellsDimensionsAndSegmentsApart) {
  Crossings crossings;
  crossings.Add({8, 4}, 1, 3);
  EXPECT_EQ(crossings.Take({4, 8}, {1}), std::nullopt);
  EXPECT_EQ(crossings.Take({8, 4}, {2}), std::nullopt);
  EXPECT_EQ(crossings.Take({8, 4}, {2, 1}), 3);
}

TEST(CrossingsTest, AValueForTwoSegmentsIsTakenForBoth) {
  Crossings crossings;
  crossings.Add({8}, 1, 3);
  crossings.Add({8}, 2, 3);
  crossings.Add({8}, 2, 4);
  EXPECT_EQ(crossings.Take({8}, {1}), 3);
  EXPECT_EQ(crossings.Take({8}, {1, 2}), 4);
}

}  // namespace
}  // namespace meshwright::segmenter
