#include "coordinator/ir/dim_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ReshapeLinksTest, MergingKeepsTheOutermost) {
  EXPECT_THAT(ReshapeLinks({8, 64, 256}, {512, 256}),
              ElementsAre(DimLink{0, 0}, DimLink{2, 1}));
}

TEST(ReshapeLinksTest, SplittingKeepsTheOutermost) {
  EXPECT_THAT(ReshapeLinks({8, 64, 256}, {8, 64, 8, 32}),
              ElementsAre(DimLink{0, 0}, DimLink{1, 1}, DimLink{2, 2}));
}

TEST(ReshapeLinksTest, UnitDimensionsAreSkipped) {
  EXPECT_THAT(ReshapeLinks({1, 8, 1, 64}, {8, 64, 1}),
              ElementsAre(DimLink{1, 0}, DimLink{3, 1}));
  EXPECT_THAT(ReshapeLinks({1, 1}, {}), IsEmpty());
}

TEST(ReshapeLinksTest, CrossingGroupsLinkTheirHeadsOnly) {
  EXPECT_THAT(ReshapeLinks({6, 4}, {8, 3}), ElementsAre(DimLink{0, 0}));
}

}  // namespace
}  // namespace meshwright::ir
