#include "coordinator/space/annotation/sharding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::space {
namespace {

using ::testing::ElementsAre;

TEST(ShardingTest, OneAxisOfTwo) {
  const hlo::OpSharding proto = ToProto({-1, 1}, 3, {1, 2});
  EXPECT_EQ(proto.type(), hlo::OpSharding::OTHER);
  EXPECT_THAT(proto.tile_assignment_dimensions(), ElementsAre(1, 2, 1));
  EXPECT_THAT(proto.tile_assignment_devices(), ElementsAre(0, 1));
  EXPECT_FALSE(proto.replicate_on_last_tile_dim());
}

TEST(ShardingTest, TheInnerAxisLeavesCopiesAlongTheOuter) {
  const hlo::OpSharding proto = ToProto({-1, 0}, 2, {2, 2});
  EXPECT_THAT(proto.tile_assignment_dimensions(), ElementsAre(2, 1, 2));
  EXPECT_TRUE(proto.replicate_on_last_tile_dim());
  // Tile 0 is on devices 0 and 2, tile 1 on 1 and 3.
  EXPECT_THAT(proto.tile_assignment_devices(), ElementsAre(0, 2, 1, 3));
}

TEST(ShardingTest, TwoAxesOnOneDimensionAreMajorToMinor) {
  EXPECT_THAT(ToProto({0, 0}, 1, {2, 2}).tile_assignment_devices(),
              ElementsAre(0, 1, 2, 3));
}

TEST(ShardingTest, TwoAxesOnTwoDimensions) {
  EXPECT_THAT(ToProto({1, 0}, 2, {2, 3}).tile_assignment_devices(),
              ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST(ShardingTest, NothingSplitIsReplicated) {
  EXPECT_EQ(ToProto({-1, -1}, 2, {2, 2}).type(), hlo::OpSharding::REPLICATED);
}

TEST(ShardingTest, LegalizeDropsWhatDoesNotDivide) {
  EXPECT_THAT(Legalize({0, 0}, {6, 4}, {2, 2}), ElementsAre(0, -1));
  EXPECT_THAT(Legalize({0, 1}, {6, 4}, {2, 2}), ElementsAre(0, 1));
  EXPECT_THAT(Legalize({-1, 5}, {6, 4}, {2, 2}), ElementsAre(-1, -1));
}

}  // namespace
}  // namespace meshwright::space
