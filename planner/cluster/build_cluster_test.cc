#include "planner/cluster/build_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "planner/cluster/describe_cluster.h"
#include "planner/cluster/testing/topologies.h"

namespace meshwright::cluster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two PCIe boxes of two pairs, a network between them.
Description MakeBoxes() {
  Description made;
  made.devices = {"a0", "a1", "b0", "b1"};
  made.classes = {{"network", {1e-5, 1e-9}, {}, {}},
                  {"pcie", {1e-6, 1e-10}, {}, {}},
                  {"nvlink", {1e-6, 1e-11}, {}, {}}};
  made.groups = {{"all", "network", {"a", "b"}},
                 {"a", "pcie", {"a0", "a1"}},
                 {"b", "pcie", {"b0", "b1"}}};
  made.links = {{"nvlink", {"b0", "b1"}}};
  return made;
}

std::string NameClass(const Cluster& cluster, size_t a, size_t b) {
  return cluster.classes()[cluster.FindClass(DeviceIndex(a), DeviceIndex(b))]
      .name;
}

TEST(BuildClusterTest, TheSmallestCommonGroupOrADirectLink) {
  const auto cluster = BuildCluster(MakeBoxes());
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  EXPECT_EQ(cluster->classes().front().name, "nvlink");
  EXPECT_EQ(NameClass(*cluster, 0, 1), "pcie");
  EXPECT_EQ(NameClass(*cluster, 2, 3), "nvlink");
  EXPECT_EQ(NameClass(*cluster, 0, 2), "network");
  EXPECT_EQ(NameClass(*cluster, 3, 1), "network");
}

TEST(BuildClusterTest, OneDeviceNeedsNoGroup) {
  Description one;
  one.devices = {"gpu"};
  EXPECT_TRUE(BuildCluster(one).ok());
}

TEST(BuildClusterTest, WhatIsWrongIsNamedWithTheWayOut) {
  struct Case {
    void (*spoil)(Description&);
    const char* says;
  };
  const Case cases[] = {
      {[](Description& it) { it.devices.clear(); }, "has no device"},
      {[](Description& it) { it.devices[1] = "a0"; },
       "device \"a0\" stands twice"},
      {[](Description& it) { it.devices[1] = ""; }, "a device has no name"},
      {[](Description& it) { it.devices.resize(5000, "x"); },
       "5000 devices, more than 4096"},
      {[](Description& it) { it.classes.resize(300); },
       "300 link classes, more than 256"},
      {[](Description& it) { it.classes[0].link.alpha = -1; },
       "link class \"network\" has a alpha that is negative"},
      {[](Description& it) {
         it.classes[0].link.beta = std::numeric_limits<double>::infinity();
       },
       "link class \"network\" has a beta that is not finite"},
      {[](Description& it) { it.classes[1].name = "network"; },
       "link class \"network\" stands twice"},
      {[](Description& it) { it.groups[0].link_class = "ib"; },
       "group \"all\" has link class \"ib\", which is not among link_classes"},
      {[](Description& it) { it.groups[0].name = ""; }, "a group has no name"},
      {[](Description& it) { it.groups[0].name = "a0"; },
       "group \"a0\" has the name of another group or of a device"},
      {[](Description& it) { it.groups[1].members = {"a0"}; },
       "group \"a\" has 1 members; a link needs two"},
      {[](Description& it) { it.groups[1].members[0] = "c"; },
       "group \"a\" has member \"c\", which is no device and no group"},
      {[](Description& it) { it.groups[1].members[0] = "b0"; },
       "\"b0\" is a member of group \"a\" and of group \"b\""},
      {[](Description& it) { it.groups[1].members[0] = "all"; },
       "holds itself by way of its members"},
      {[](Description& it) {
         it.groups.erase(it.groups.begin());
         it.groups[0].members[0] = "a";
       },
       "group \"a\" holds itself"},
      {[](Description& it) { it.groups.erase(it.groups.begin()); },
       "nothing joins \"a0\" and \"b0\"; put \"a\" and \"b\" into a group"},
      {[](Description& it) { it.links[0].link_class = "x"; },
       "links[0] has link class \"x\""},
      {[](Description& it) { it.links[0].devices[0] = "b"; },
       "links[0] joins \"b\", which is no device"},
      {[](Description& it) { it.links[0].devices[0] = "b1"; },
       "links[0] needs two devices or more, each once"},
      {[](Description& it) {
         it.links.push_back({"pcie", {"a0", "b1", "b0"}});
       },
       "links[1] joins \"b0\" and \"b1\", which an earlier link joins"},
      {[](Description& it) {
         it.timings.push_back({"x", {}});
       },
       "a timing has link class \"x\""},
      {[](Description& it) {
         it.timings.push_back({"pcie", {.devices = -3}});
       },
       "a timing of link class \"pcie\" has -3 devices"}};
  for (const Case& it : cases) {
    Description spoilt = MakeBoxes();
    it.spoil(spoilt);
    const auto cluster = BuildCluster(spoilt);
    EXPECT_EQ(cluster.status().code(), absl::StatusCode::kInvalidArgument)
        << it.says;
    EXPECT_THAT(std::string(cluster.status().message()), HasSubstr(it.says));
  }
}

void ExpectSame(const Cluster& a, const Cluster& b) {
  ASSERT_EQ(a.devices(), b.devices());
  for (size_t i = 0; i < a.device_count(); ++i) {
    for (size_t k = i + 1; k < a.device_count(); ++k) {
      EXPECT_EQ(NameClass(a, i, k), NameClass(b, i, k)) << i << " " << k;
    }
  }
}

TEST(BuildClusterTest, ADescribedClusterIsTheSame) {
  for (const Cluster& cluster : {MakePairedBox(), MakeSwitchedBox(),
                                 MakeTwoHosts(4), MakeMixedHosts()}) {
    const Description made = DescribeCluster(cluster);
    EXPECT_TRUE(made.links.empty());
    const auto built = BuildCluster(made);
    ASSERT_TRUE(built.ok()) << built.status();
    ExpectSame(cluster, *built);
  }
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const Cluster cluster = MakeRandomCluster(2 + seed % 7, 3, seed);
    const auto built = BuildCluster(DescribeCluster(cluster));
    ASSERT_TRUE(built.ok()) << built.status();
    ExpectSame(cluster, *built);
  }
}

TEST(BuildClusterTest, BoxesAreGroups) {
  const Description made = DescribeCluster(MakePairedBox());
  ASSERT_EQ(made.groups.size(), 7u);
  EXPECT_EQ(made.groups[0].link_class, "nvlink");
  EXPECT_THAT(made.groups[0].members, ElementsAre("0", "1"));
  EXPECT_THAT(made.groups[4].members, ElementsAre("box0", "box1"));
  EXPECT_EQ(made.groups[6].link_class, "bridge");
}

}  // namespace
}  // namespace meshwright::cluster
