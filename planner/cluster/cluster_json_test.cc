#include "planner/cluster/cluster_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/cluster/build_cluster.h"
#include "planner/cluster/describe_cluster.h"
#include "planner/cluster/detection.h"
#include "planner/cluster/testing/topologies.h"

namespace meshwright::cluster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kByHand[] = R"({
  "devices": ["h[0-1]/gpu[0-3]"],
  "link_classes": [
    {"name": "nvlink", "alpha": 5e-6, "bandwidth_bytes_per_second": 200e9},
    {"name": "network", "alpha": 3e-5, "beta": 8e-11}],
  "groups": [
    {"name": "h0", "class": "nvlink", "members": ["h0/gpu[0-3]"]},
    {"name": "h1", "class": "nvlink", "members": ["h1/gpu[0-3]"]},
    {"name": "all", "class": "network", "members": ["h[0-1]"]}]})";

TEST(ClusterJsonTest, WrittenByHand) {
  const auto made = ParseDescription(kByHand);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->devices.size(), 8u);
  EXPECT_EQ(made->classes[0].link.beta, 1 / 200e9);
  EXPECT_THAT(made->groups[2].members, ElementsAre("h0", "h1"));
  const auto links = ParseLinks(kByHand, {2, 4});
  ASSERT_TRUE(links.ok()) << links.status();
  EXPECT_EQ((*links)[0].beta, 8e-11);
  EXPECT_EQ((*links)[1].alpha, 5e-6);
  EXPECT_THAT(std::string(ParseLinks(kByHand, {2, 2}).status().message()),
              HasSubstr("mesh 2x2 has 4 places, but the cluster has 8"));
}

TEST(ClusterJsonTest, ALinkFileIsStillRead) {
  const auto links =
      ParseLinks(R"({"alpha": [0, 1e-6], "beta": [0, 1e-10]})", {1, 2});
  ASSERT_TRUE(links.ok());
  EXPECT_EQ((*links)[1].alpha, 1e-6);
  EXPECT_EQ((*links)[1].beta, 1e-10);
  // A plan, say, is neither.
  EXPECT_THAT(
      std::string(
          ParseLinks(R"({"device": "cpu"})", {1, 2}).status().message()),
      HasSubstr("alpha is missing"));
}

TEST(ClusterJsonTest, WhatIsWrittenIsReadAgain) {
  const Cluster cluster = MakePairedBox();
  Description made = DescribeCluster(cluster);
  made.name = "box";
  made.classes[0].residual = 0.25;
  made.classes[0].timings = 3;
  made.timings.push_back(
      {"pcie", {Operation::kAllReduce, 4, 1024, 1.0 / 1024}});
  const std::string text =
      FormatDescription(made, cluster, RankMeshes(cluster, 3));
  EXPECT_THAT(text, HasSubstr("\"bus_bytes_per_second\": 1572864.0"));
  EXPECT_THAT(text, HasSubstr("\"proven\": true"));
  const auto read = ParseDescription(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->name, "box");
  EXPECT_EQ(read->classes[0].residual, 0.25);
  EXPECT_EQ(read->classes[0].timings, 3);
  EXPECT_EQ(read->timings.at(0).timing.seconds, 1.0 / 1024);
  EXPECT_EQ(
      FormatDescription(*read, *BuildCluster(*read), RankMeshes(cluster, 3)),
      text);
}

TEST(ClusterJsonTest, WhatIsNoClusterIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "not JSON"},
      {"[]", "not an object"},
      {"{}", "devices is missing"},
      {R"({"devices": [3]})", "devices[0] is number, not"},
      {R"({"devices": ["g[0"]})", "devices[0] \"g[0\" opens a bracket"},
      {R"({"devices": ["a\nb"]})", "devices[0] holds a control character"},
      {R"({"devices": []})", "the cluster has no device"},
      {R"({"devices": ["a"], "schema_version": 2})", "schema_version 2"},
      {R"({"devices": ["a"], "link_classes": [{"name": "n", "alpha": -1}]})",
       "link_classes[0].alpha is no number of at least 0, but -1"},
      {R"({"devices": ["a"], "link_classes": [{"name": "n", "alpha": 1}]})",
       "link_classes[0].beta is missing"},
      {R"({"devices": ["a"], "link_classes": [{"name": "n", "alpha": 1,
           "beta": 1, "bandwidth_bytes_per_second": 1}]})",
       "has beta and bandwidth_bytes_per_second"},
      {R"({"devices": ["a"], "link_classes": [{"name": "n", "alpha": 1,
           "bandwidth_bytes_per_second": 0}]})",
       "of 0; give the link's"},
      {R"({"devices": ["a"], "timings": [{"class": "n", "operation": "sum",
           "devices": 2, "bytes": 1, "seconds": 1}]})",
       "timings[0].operation is \"sum\"; it is all-reduce, all-gather"},
      {R"({"devices": ["a", "b"]})", "nothing joins \"a\" and \"b\""},
      {R"({"devices": ["a"], "group": []})", "groups"}};
  for (const auto& [text, says] : cases) {
    const auto made = ParseDescription(text);
    EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(made.status().message()), HasSubstr(says));
  }
}

}  // namespace
}  // namespace meshwright::cluster
