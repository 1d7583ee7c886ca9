#include "worker/runner/input_cache.h"

#include <gtest/gtest.h>

namespace meshwright::worker::runner {
namespace {

v1::InputSpec Seeded(uint64_t seed) {
  v1::InputSpec spec;
  spec.set_seed(seed);
  return spec;
}

TEST(InputCacheTest, EqualSpecsOfOneTypeAndShapeAreMadeOnce) {
  InputCache cache(1 << 20);
  const auto first = cache.Get(Seeded(1), hlo::F32, {4, 8});
  const auto again = cache.Get(Seeded(1), hlo::F32, {4, 8});
  ASSERT_TRUE(first.ok() && again.ok());
  EXPECT_EQ(*first, *again);
  EXPECT_EQ(cache.made(), 1);
  EXPECT_NE(*cache.Get(Seeded(2), hlo::F32, {4, 8}), *first);
  EXPECT_NE(*cache.Get(Seeded(1), hlo::F32, {8, 4}), *first);
  EXPECT_NE(*cache.Get(Seeded(1), hlo::S32, {4, 8}), *first);
  EXPECT_EQ(cache.made(), 4);
}

TEST(InputCacheTest, TheLeastRecentlyUsedGoes) {
  InputCache cache(2 * 4 * 100);
  ASSERT_TRUE(cache.Get(Seeded(1), hlo::F32, {100}).ok());
  ASSERT_TRUE(cache.Get(Seeded(2), hlo::F32, {100}).ok());
  ASSERT_TRUE(cache.Get(Seeded(1), hlo::F32, {100}).ok());
  ASSERT_TRUE(cache.Get(Seeded(3), hlo::F32, {100}).ok());
  EXPECT_EQ(cache.made(), 3);
  ASSERT_TRUE(cache.Get(Seeded(1), hlo::F32, {100}).ok());
  EXPECT_EQ(cache.made(), 3);
  ASSERT_TRUE(cache.Get(Seeded(2), hlo::F32, {100}).ok());
  EXPECT_EQ(cache.made(), 4);
}

TEST(InputCacheTest, AnInputLargerThanTheCacheIsMadeAndNotKept) {
  InputCache cache(4);
  const auto large = cache.Get(Seeded(1), hlo::F32, {100});
  ASSERT_TRUE(large.ok());
  EXPECT_EQ((*large)->bytes.size(), 400u);
  ASSERT_TRUE(cache.Get(Seeded(1), hlo::F32, {100}).ok());
  EXPECT_EQ(cache.made(), 2);
}

TEST(InputCacheTest, WhatCannotBeMadeIsAnError) {
  InputCache cache(4);
  EXPECT_EQ(cache.Get(Seeded(1), hlo::TOKEN, {}).status().code(),
            absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace meshwright::worker::runner
