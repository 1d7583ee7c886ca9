#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "coordinator/explain/what_if.h"

namespace meshwright::explain {
namespace {

using testing::HasSubstr;

v1::MeshSpec Mesh(const std::string& text) {
  v1::MeshSpec mesh;
  for (const auto& size : absl::StrSplit(text, 'x')) {
    mesh.add_shape(std::stoll(std::string(size)));
  }
  return mesh;
}

std::string OfDevices(const std::string& mesh, int64_t devices) {
  const auto changed = ResizeMesh(Mesh(mesh), devices);
  return changed.ok() ? absl::StrJoin(changed->shape(), "x")
                      : std::string(changed.status().message());
}

TEST(SupposeTest, ADeviceCountChangesTheSearchedAxis) {
  EXPECT_EQ(OfDevices("1x2", 8), "1x8");
  EXPECT_EQ(OfDevices("2x4", 4), "2x2");
  EXPECT_EQ(OfDevices("4x1", 2), "2x1");
  EXPECT_EQ(OfDevices("1x1", 4), "1x4");
  EXPECT_EQ(OfDevices("1x4", 1), "1x1");
  EXPECT_THAT(OfDevices("4x2", 6), HasSubstr("no multiple of the 4"));
  EXPECT_THAT(OfDevices("2x2", 8192), HasSubstr("4096"));
}

TEST(SupposeTest, NearMeshesComeByHalvingAndDoubling) {
  std::vector<std::string> names;
  for (const v1::MeshSpec& mesh : ListMeshesNear(Mesh("1x4"))) {
    names.push_back(absl::StrJoin(mesh.shape(), "x"));
  }
  EXPECT_THAT(names, testing::ElementsAre("1x2", "1x8", "1x16", "1x32"));
  EXPECT_TRUE(ListMeshesNear(Mesh("1x1")).empty());
  EXPECT_FALSE(ListMeshesNear(Mesh("1x4096")).empty());
}

}  // namespace
}  // namespace meshwright::explain
