#include "planner/cluster/meshes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "planner/cluster/testing/exhaustive_meshes.h"
#include "planner/cluster/testing/topologies.h"

namespace meshwright::cluster {
namespace {

using testing::ElementsAre;

Costs GetCosts(const DeviceMesh& mesh) {
  Costs costs;
  for (size_t axis = mesh.axes.size(); axis-- > 0;) {
    costs.push_back(mesh.axes[axis].slowest.value_or(ClassIndex()));
  }
  return costs;
}

void ExpectBest(const Cluster& cluster, const base::Mesh& shape) {
  const auto mesh = FindMesh(cluster, shape);
  ASSERT_TRUE(mesh.ok()) << mesh.status();
  EXPECT_TRUE(mesh->proven);
  std::vector<size_t> devices(mesh->devices.begin(), mesh->devices.end());
  EXPECT_EQ(GetCosts(*mesh), FindCosts(cluster, shape, devices));
  EXPECT_EQ(GetCosts(*mesh), SearchExhaustively(cluster, shape))
      << testing::PrintToString(shape);
  std::sort(devices.begin(), devices.end());
  for (size_t i = 0; i < devices.size(); ++i) EXPECT_EQ(devices[i], i);
}

TEST(MeshesTest, TopologiesAsByExhaustiveSearch) {
  for (const Cluster& cluster : {MakePairedBox(), MakeSwitchedBox(),
                                 MakeTwoHosts(4), MakeMixedHosts()}) {
    for (const base::Mesh& shape : ListShapes(8, 3)) {
      ExpectBest(cluster, shape);
    }
  }
}

TEST(MeshesTest, RandomGraphsAsByExhaustiveSearch) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const Cluster cluster = MakeRandomCluster(6, 2 + seed % 4, seed);
    for (const base::Mesh& shape : ListShapes(6, 3)) {
      ExpectBest(cluster, shape);
    }
  }
  for (uint64_t seed = 0; seed < 3; ++seed) {
    const Cluster cluster = MakeRandomCluster(8, 3, seed);
    for (const base::Mesh& shape : ListShapes(8, 3)) {
      ExpectBest(cluster, shape);
    }
  }
}

TEST(MeshesTest, TheBoxOfThePaper) {
  const Cluster cluster = MakePairedBox();
  const auto cube = FindMesh(cluster, {2, 2, 2});
  ASSERT_TRUE(cube.ok());
  EXPECT_EQ(GetCosts(*cube), (Costs{0, 1, 2}));
  for (const MeshAxis& axis : cube->axes) EXPECT_TRUE(axis.HasEqualLines());
  const base::Links links = FindLinks(cluster, *cube);
  EXPECT_EQ(links[2].beta, 1 / 200e9);
  EXPECT_EQ(links[0].beta, 1 / 10e9);
  // Four GPUs in a row are as fast as PCIe, eight as the bridge.
  EXPECT_EQ(GetCosts(*FindMesh(cluster, {2, 4})), (Costs{1, 2}));
  EXPECT_EQ(GetCosts(*FindMesh(cluster, {8})), (Costs{2}));
  EXPECT_THAT(FindMesh(cluster, {4, 1, 2})->axes[1].slowest,
              testing::Eq(std::nullopt));
}

TEST(MeshesTest, NamesInAnyOrder) {
  // Pairs (0, 4), (1, 5), ..; fours of even and of odd devices.
  const Cluster cluster =
      MakeCluster(8, MakePairedBox().classes(), [](size_t a, size_t b) {
        return a % 4 == b % 4 ? 0 : a % 2 == b % 2 ? 1 : 2;
      });
  const auto mesh = FindMesh(cluster, {2, 2, 2});
  EXPECT_EQ(GetCosts(*mesh), (Costs{0, 1, 2}));
  EXPECT_THAT(mesh->devices, ElementsAre(0, 4, 2, 6, 1, 5, 3, 7));
}

TEST(MeshesTest, UnequalLinesAreSeen) {
  const auto mesh = FindMesh(MakeMixedHosts(), {2, 4});
  EXPECT_FALSE(mesh->axes[1].HasEqualLines());
  EXPECT_EQ(mesh->axes[1].slowest, ClassIndex(1));
  EXPECT_EQ(mesh->axes[1].fastest, ClassIndex(0));
  EXPECT_TRUE(mesh->axes[0].HasEqualLines());
}

TEST(MeshesTest, ThousandsOfDevices) {
  const Cluster cluster = MakeTwoHosts(1024);
  const auto mesh = FindMesh(cluster, {2, 128, 8});
  EXPECT_TRUE(mesh->proven);
  EXPECT_EQ(GetCosts(*mesh), (Costs{0, 0, 1}));
}

TEST(MeshesTest, Shapes) {
  EXPECT_THAT(ListShapes(8, 3),
              ElementsAre(ElementsAre(8), ElementsAre(2, 4), ElementsAre(4, 2),
                          ElementsAre(2, 2, 2)));
  EXPECT_THAT(ListShapes(12, 2),
              ElementsAre(ElementsAre(12), ElementsAre(2, 6), ElementsAre(3, 4),
                          ElementsAre(4, 3), ElementsAre(6, 2)));
  EXPECT_THAT(ListShapes(1, 2), ElementsAre(ElementsAre(1)));
  EXPECT_EQ(ListShapes(64, 6).size(), 32u);
  EXPECT_FALSE(FindMesh(MakePairedBox(), {2, 2}).ok());
}

TEST(MeshesTest, AllReduceOverTheAxes) {
  const base::Links links = {{0, 2}, {1, 1}};
  // 2 steps of 1 + 4 over the last axis, then 2 of half the half over the
  // other.
  EXPECT_DOUBLE_EQ(EstimateAllReduceSeconds({2, 2}, links, 8),
                   2 * (1 + 4) + 2 * (2 * 2));
}

}  // namespace
}  // namespace meshwright::cluster
