#include "coordinator/stages/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace meshwright::stages {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ClusterTest, MeshesArePartsOfARowOrWholeRows) {
  std::vector<std::string> names;
  for (const space::Mesh& mesh : ListStageMeshes({3, 4})) {
    names.push_back(NameMesh(mesh));
  }
  EXPECT_THAT(names, ElementsAre("1x1", "1x2", "1x4", "2x4", "3x4"));
  EXPECT_EQ(ListStageMeshes({1, 1}).size(), 1u);
}

TEST(ClusterTest, OfManyRowsStagesHaveEvenParts) {
  EXPECT_EQ(ListStageMeshes({61, 8}).size(), 64u);
  std::vector<std::string> names;
  for (const space::Mesh& mesh : ListStageMeshes({62, 8})) {
    names.push_back(NameMesh(mesh));
  }
  EXPECT_THAT(names, ElementsAre("1x1", "1x2", "1x4", "1x8", "2x8", "4x8",
                                 "8x8", "16x8", "31x8", "32x8", "62x8"));
  for (const int64_t rows : {64, 100, 2520, 4096}) {
    const std::vector<space::Mesh> meshes = ListStageMeshes({rows, 1});
    EXPECT_LE(meshes.size(), static_cast<size_t>(pipeline::kMaxMeshes));
    EXPECT_EQ(meshes.back(), (space::Mesh{rows, 1}));
  }
}

TEST(ClusterTest, OneAxisIsOneRow) {
  const auto row = ParseCluster({8});
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->rows, 1);
  EXPECT_EQ(row->columns, 8);
}

TEST(ClusterTest, SaysWhatItDoesNotCut) {
  EXPECT_THAT(std::string(ParseCluster({2, 6}).status().message()),
              HasSubstr("the hosts of 2x6 have 6 devices"));
  EXPECT_THAT(std::string(ParseCluster({2, 2, 2}).status().message()),
              HasSubstr("3 axes"));
}

// Stages that fill the cluster in any order: every device once, parts of a row
// in one row, whole rows from their start.
TEST(ClusterTest, EveryFullSetOfStagesFits) {
  int filled = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    std::mt19937_64 random(seed);
    const Cluster cluster{1 + static_cast<int64_t>(random() % 5),
                          int64_t{1} << random() % 5};
    const std::vector<space::Mesh> shapes = ListStageMeshes(cluster);
    std::vector<space::Mesh> stages;
    int64_t left = cluster.Devices();
    while (left > 0) {
      const space::Mesh& mesh = shapes[random() % shapes.size()];
      if (space::CountDevices(mesh) > left) continue;
      stages.push_back(mesh);
      left -= space::CountDevices(mesh);
    }
    filled += stages.size() > 3;
    const auto placed = Place(cluster, stages);
    ASSERT_EQ(placed.size(), stages.size());
    std::set<int64_t> used;
    for (size_t i = 0; i < stages.size(); ++i) {
      const std::vector<int64_t>& devices = placed[i];
      ASSERT_EQ(static_cast<int64_t>(devices.size()),
                space::CountDevices(stages[i]));
      used.insert(devices.begin(), devices.end());
      if (stages[i][0] > 1) {
        EXPECT_EQ(devices.front() % cluster.columns, 0);
      } else {
        EXPECT_EQ(devices.front() / cluster.columns,
                  devices.back() / cluster.columns);
      }
    }
    ASSERT_EQ(static_cast<int64_t>(used.size()), cluster.Devices());
    EXPECT_EQ(*used.begin(), 0);
    EXPECT_EQ(*used.rbegin(), cluster.Devices() - 1);
  }
  EXPECT_GT(filled, 300);
}

}  // namespace
}  // namespace meshwright::stages
