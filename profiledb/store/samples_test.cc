#include "profiledb/store/samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

namespace meshwright::store {
namespace {

using testing::ElementsAre;

v1::Measurement Measured(const std::vector<int64_t>& samples) {
  v1::Measurement it;
  it.mutable_samples_ns()->Assign(samples.begin(), samples.end());
  return it;
}

TEST(SamplesTest, AFewAreKeptInTheirOrder) {
  v1::Measurement it = Measured({5, 3, 4});
  CompactSamples(it);
  EXPECT_THAT(it.samples_ns(), ElementsAre(5, 3, 4));
  EXPECT_TRUE(it.quantiles_ns().empty());
  EXPECT_EQ(CountSamples(it), 3);
}

TEST(SamplesTest, ManyAreTheSmallestAndQuantiles) {
  std::vector<int64_t> samples(101);
  std::iota(samples.begin(), samples.end(), 1000);
  std::shuffle(samples.begin(), samples.end(), std::mt19937(1));
  v1::Measurement it = Measured(samples);
  CompactSamples(it);
  EXPECT_EQ(CountSamples(it), 101);
  ASSERT_EQ(it.samples_ns_size(), kMaximumRawSamples);
  EXPECT_EQ(it.samples_ns(0), 1000);
  EXPECT_EQ(it.samples_ns(15), 1015);
  ASSERT_EQ(it.quantiles_ns_size(), kQuantiles);
  for (int i = 0; i < kQuantiles; ++i) {
    EXPECT_EQ(it.quantiles_ns(i), 1000 + 5 * i);
  }
}

TEST(SamplesTest, CompactingTwiceIsCompactingOnce) {
  std::mt19937 random(7);
  for (int count : {0, 1, 16, 17, 21, 22, 400}) {
    std::vector<int64_t> samples;
    for (int i = 0; i < count; ++i) samples.push_back(1 + random() % 1000);
    v1::Measurement once = Measured(samples);
    CompactSamples(once);
    v1::Measurement twice = once;
    CompactSamples(twice);
    EXPECT_EQ(once.SerializeAsString(), twice.SerializeAsString());
    EXPECT_EQ(CountSamples(once), count);
    EXPECT_TRUE(
        std::is_sorted(once.quantiles_ns().begin(), once.quantiles_ns().end()));
  }
}

}  // namespace
}  // namespace meshwright::store
