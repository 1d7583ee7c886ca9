#include "planner/cluster/classes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace meshwright::cluster {
namespace {

using testing::ElementsAre;

TEST(ClassesTest, NoiseMakesNoClass) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> share(1, 0.02);
  std::vector<base::Link> links;
  for (int i = 0; i < 60; ++i) {
    const double beta = i % 3 == 0 ? 1 / 200e9 : i % 3 == 1 ? 1 / 20e9 : 1e-10;
    links.push_back({1e-5 * share(random), beta * share(random)});
  }
  const auto classes = GroupIntoClasses(links);
  ASSERT_EQ(classes.size(), 3u);
  for (size_t i = 0; i < classes.size(); ++i) {
    EXPECT_EQ(classes[i].size(), 20u);
    for (const size_t member : classes[i]) EXPECT_EQ(member % 3, i);
  }
}

TEST(ClassesTest, EqualBandwidthBehindASwitchIsAnotherClass) {
  EXPECT_THAT(GroupIntoClasses({{5e-6, 1e-10}, {20e-6, 1e-10}, {5e-6, 1e-10}}),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1)));
  // Below a microsecond alpha tells nothing.
  EXPECT_THAT(GroupIntoClasses({{1e-7, 1e-10}, {8e-7, 1e-10}}),
              ElementsAre(ElementsAre(0, 1)));
  EXPECT_TRUE(GroupIntoClasses({}).empty());
}

}  // namespace
}  // namespace meshwright::cluster
