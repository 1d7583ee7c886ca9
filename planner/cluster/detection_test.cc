#include "planner/cluster/detection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/cluster/build_cluster.h"
#include "planner/cluster/describe_cluster.h"
#include "planner/cluster/testing/topologies.h"

namespace meshwright::cluster {
namespace {

using testing::HasSubstr;

TEST(DetectionTest, TopologiesComeBackWithinOnePercent) {
  uint64_t seed = 0;
  for (const Cluster& cluster : {MakePairedBox(), MakeSwitchedBox(),
                                 MakeTwoHosts(4), MakeMixedHosts()}) {
    const auto found =
        Detect(cluster.devices(), TimePairs(cluster, 0.01, ++seed), "link");
    ASSERT_TRUE(found.ok()) << found.status();
    const auto built = BuildCluster(*found);
    ASSERT_TRUE(built.ok()) << built.status();
    ASSERT_EQ(built->classes().size(), cluster.classes().size());
    for (size_t i = 0; i < built->classes().size(); ++i) {
      const LinkClass& it = built->classes()[i];
      const base::Link& wanted = cluster.classes()[i].link;
      EXPECT_NEAR(it.link.alpha / wanted.alpha, 1, 0.01) << it.name;
      EXPECT_NEAR(it.link.beta / wanted.beta, 1, 0.01) << it.name;
      EXPECT_NEAR(*it.residual, 0.01, 0.003);
    }
    for (size_t a = 0; a < 8; ++a) {
      for (size_t b = a + 1; b < 8; ++b) {
        EXPECT_EQ(built->FindClass(DeviceIndex(a), DeviceIndex(b)),
                  cluster.FindClass(DeviceIndex(a), DeviceIndex(b)));
      }
    }
  }
}

TEST(DetectionTest, AGroupsTimingIsOfItsSlowestLink) {
  const Cluster cluster = MakeTwoHosts(2);
  std::vector<GroupTiming> timings = TimePairs(cluster, 0, 1);
  const size_t pairs = timings.size();
  timings.push_back({{DeviceIndex(0), DeviceIndex(1), DeviceIndex(2)},
                     {Operation::kAllGather, 3, 1024, 0.5}});
  const auto found = Detect(cluster.devices(), timings, "tcp");
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->timings.size(), pairs + 1);
  EXPECT_EQ(found->timings.front().link_class, "tcp0");
  EXPECT_EQ(found->timings.back().link_class, "tcp1");
}

TEST(DetectionTest, APairThatIsMissingIsNamed) {
  const Cluster cluster = MakeSwitchedBox();
  std::vector<GroupTiming> timings = TimePairs(cluster, 0, 1);
  timings.pop_back();
  while (timings.back().devices[0] == DeviceIndex(6)) timings.pop_back();
  EXPECT_THAT(
      std::string(Detect(cluster.devices(), timings, "x").status().message()),
      HasSubstr("the link of \"6\" and \"7\" was not timed"));
  timings.push_back({{DeviceIndex(6), DeviceIndex(7)}, {}});
  EXPECT_THAT(
      std::string(Detect(cluster.devices(), timings, "x").status().message()),
      HasSubstr("the link of \"6\" and \"7\": latency and bandwidth"));
}

TEST(DetectionTest, APairThatCouldNotBeTimedIsOfTheSlowestClass) {
  const Cluster cluster = MakeTwoHosts(2);
  std::vector<GroupTiming> timings = TimePairs(cluster, 0, 1);
  std::erase_if(timings, [](const GroupTiming& it) {
    return it.devices[0] == DeviceIndex(0) && it.devices[1] == DeviceIndex(1);
  });
  const std::set<DevicePair> untimed = {{DeviceIndex(0), DeviceIndex(1)}};
  const auto found = Detect(cluster.devices(), timings, "tcp", {}, untimed);
  ASSERT_TRUE(found.ok()) << found.status();
  const auto built = BuildCluster(*found);
  ASSERT_TRUE(built.ok()) << built.status();
  ASSERT_EQ(built->classes().size(), 2u);
  EXPECT_EQ(built->FindClass(DeviceIndex(0), DeviceIndex(1)), ClassIndex(1));
  EXPECT_EQ(built->FindClass(DeviceIndex(2), DeviceIndex(3)), ClassIndex(0));
  EXPECT_THAT(
      std::string(
          Detect({"a", "b"}, {}, "tcp", {}, untimed).status().message()),
      HasSubstr("was not timed"));
}

TEST(DetectionTest, BoxesBetweenHosts) {
  const Description hosts = DescribeCluster(MakeCluster(
      3, {{"fast", {1e-5, 1e-9}, {}, {}}, {"slow", {1e-5, 1e-8}, {}, {}}},
      [](size_t a, size_t b) { return a == 0 && b == 1 ? 0 : 1; }));
  const Description box = DescribeCluster(MakePairedBox());
  const auto both = NestBoxes(hosts, box);
  ASSERT_TRUE(both.ok()) << both.status();
  const auto cluster = BuildCluster(*both);
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  ASSERT_EQ(cluster->device_count(), 24u);
  EXPECT_EQ(cluster->devices()[8], "1/0");
  const auto name = [&](size_t a, size_t b) {
    return cluster
        ->classes()[cluster->FindClass(DeviceIndex(a), DeviceIndex(b))]
        .name;
  };
  EXPECT_EQ(name(0, 1), "nvlink");
  EXPECT_EQ(name(8, 15), "bridge");
  EXPECT_EQ(name(0, 15), "fast");
  EXPECT_EQ(name(0, 23), "slow");
  EXPECT_THAT(std::string(NestBoxes(box, box).status().message()),
              HasSubstr("is one of the box and one between boxes"));
}

TEST(DetectionTest, MeshesBestFirst) {
  const std::vector<DeviceMesh> meshes = RankMeshes(MakePairedBox(), 3);
  ASSERT_EQ(meshes.size(), 4u);
  // Most bytes go over NVLink.
  EXPECT_EQ(meshes.front().axes.size(), 3u);
  EXPECT_EQ(meshes.back().axes.size(), 1u);
}

}  // namespace
}  // namespace meshwright::cluster
