#include "worker/devices/cache_sweep.h"

#include <gtest/gtest.h>

namespace meshwright::worker::devices {
namespace {

TEST(CacheSweepTest, EveryCoreReadsAllOfItEveryTime) {
  CacheSweep caches({0, 0, 0});
  EXPECT_GE(caches.bytes(), int64_t{1} << 20);
  const int64_t lines = caches.bytes() / 64;
  for (int run = 1; run <= 50; ++run) {
    caches.Run();
    EXPECT_EQ(caches.reads(), run * 3 * lines);
  }
}

TEST(CacheSweepTest, EndsWithoutARun) { CacheSweep caches({0}); }

}  // namespace
}  // namespace meshwright::worker::devices
