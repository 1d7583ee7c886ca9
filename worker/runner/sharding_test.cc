#include "worker/runner/sharding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "worker/pjrt/testing/modules.h"

namespace meshwright::worker::runner {
namespace {

using ::testing::ElementsAre;

pjrt::HostArray Counting(std::vector<int64_t> dimensions) {
  pjrt::HostArray array;
  array.type = hlo::U8;
  array.dimensions = std::move(dimensions);
  for (int64_t i = 0; i < array.ElementCount(); ++i) {
    array.bytes += static_cast<char>(1 + i % 250);
  }
  return array;
}

std::vector<int> Elements(const pjrt::HostArray& array) {
  return {array.bytes.begin(), array.bytes.end()};
}

TEST(ShardingTest, RowsOfTwo) {
  const auto tiling = TileAssignment::Create(pjrt::Tiled({2, 1}), {2, 3}, 2);
  ASSERT_TRUE(tiling.ok());
  EXPECT_THAT(Elements(Cut(Counting({2, 3}), *tiling, 1)),
              ElementsAre(4, 5, 6));
}

TEST(ShardingTest, UnevenTilesArePaddedWithZero) {
  const auto tiling = TileAssignment::Create(pjrt::Tiled({4}), {5}, 4);
  ASSERT_TRUE(tiling.ok());
  EXPECT_THAT(tiling->shard_dimensions(), ElementsAre(2));
  EXPECT_THAT(Elements(Cut(Counting({5}), *tiling, 2)), ElementsAre(5, 0));
  EXPECT_THAT(Elements(Cut(Counting({5}), *tiling, 3)), ElementsAre(0, 0));
}

TEST(ShardingTest, TransposedIota) {
  // iota(4) as 2x2, transposed: devices in the order 0, 2, 1, 3.
  hlo::OpSharding sharding;
  sharding.set_type(hlo::OpSharding::OTHER);
  sharding.add_tile_assignment_dimensions(4);
  sharding.add_iota_reshape_dims(2);
  sharding.add_iota_reshape_dims(2);
  sharding.add_iota_transpose_perm(1);
  sharding.add_iota_transpose_perm(0);
  const auto tiling = TileAssignment::Create(sharding, {4}, 4);
  ASSERT_TRUE(tiling.ok()) << tiling.status();
  EXPECT_THAT(Elements(Cut(Counting({4}), *tiling, 2)), ElementsAre(2));
  EXPECT_THAT(Elements(Cut(Counting({4}), *tiling, 1)), ElementsAre(3));
}

TEST(ShardingTest, MisfitsAreRefused) {
  EXPECT_FALSE(TileAssignment::Create(pjrt::Tiled({2}), {4, 4}, 2).ok());
  EXPECT_FALSE(TileAssignment::Create(pjrt::Tiled({2, 1}), {4, 4}, 4).ok());
  hlo::OpSharding twice = pjrt::Tiled({2});
  twice.set_tile_assignment_devices(1, 0);
  EXPECT_FALSE(TileAssignment::Create(twice, {4}, 2).ok());
  hlo::OpSharding manual;
  manual.set_type(hlo::OpSharding::MANUAL);
  EXPECT_EQ(TileAssignment::Create(manual, {4}, 2).status().code(),
            absl::StatusCode::kUnimplemented);
}

// A random sharding of a tensor of this rank over `devices`.
hlo::OpSharding RandomSharding(int rank, int devices, std::mt19937& random) {
  hlo::OpSharding sharding;
  if (random() % 8 == 0) return sharding;
  sharding.set_type(hlo::OpSharding::OTHER);
  std::vector<int64_t> tiles(rank + 1, 1);
  for (int left = devices; left > 1;) {
    const int factor = left % 2 == 0 ? 2 : left;
    tiles[random() % tiles.size()] *= factor;
    left /= factor;
  }
  const bool partly = tiles.back() > 1;
  if (!partly) tiles.pop_back();
  sharding.set_replicate_on_last_tile_dim(partly);
  for (const int64_t tile : tiles) {
    sharding.add_tile_assignment_dimensions(tile);
  }
  if (random() % 2 == 0) {
    std::vector<int64_t> order(devices);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    for (const int64_t device : order) {
      sharding.add_tile_assignment_devices(device);
    }
    return sharding;
  }
  const int first = devices % 2 == 0 ? 2 : 1;
  sharding.add_iota_reshape_dims(first);
  sharding.add_iota_reshape_dims(devices / first);
  const int turned = static_cast<int>(random() % 2);
  sharding.add_iota_transpose_perm(turned);
  sharding.add_iota_transpose_perm(1 - turned);
  return sharding;
}

TEST(ShardingTest, CutThenPasteIsTheWhole) {
  std::mt19937 random(20240607);
  for (int trial = 0; trial < 2000; ++trial) {
    const int devices = std::vector<int>{1, 2, 3, 4, 6, 8}[random() % 6];
    std::vector<int64_t> dimensions(random() % 4);
    for (int64_t& dimension : dimensions) dimension = 1 + random() % 7;
    const auto sharding =
        RandomSharding(static_cast<int>(dimensions.size()), devices, random);
    const auto tiling = TileAssignment::Create(sharding, dimensions, devices);
    ASSERT_TRUE(tiling.ok()) << tiling.status() << sharding.DebugString();
    const pjrt::HostArray whole = Counting(dimensions);
    pjrt::HostArray back = whole;
    std::fill(back.bytes.begin(), back.bytes.end(), '\0');
    for (const int device : tiling->ListFirstHolders()) {
      Paste(Cut(whole, *tiling, device), *tiling, device, back);
    }
    ASSERT_EQ(back.bytes, whole.bytes) << sharding.DebugString();
  }
}

}  // namespace
}  // namespace meshwright::worker::runner
