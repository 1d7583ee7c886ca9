#include "cli/what_if.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_join.h"
#include "base/file.h"
#include "cli/arguments.h"
#include "cli/links_file.h"

namespace meshwright::cli {
namespace {

using testing::HasSubstr;

std::string OfDevices(const std::string& mesh, int64_t devices) {
  const auto changed = MeshOfDevices(*ParseMesh(mesh), devices);
  return changed.ok() ? absl::StrJoin(changed->shape(), "x")
                      : std::string(changed.status().message());
}

TEST(WhatIfTest, ADeviceCountChangesTheSearchedAxis) {
  EXPECT_EQ(OfDevices("1x2", 8), "1x8");
  EXPECT_EQ(OfDevices("2x4", 4), "2x2");
  EXPECT_EQ(OfDevices("4x1", 2), "2x1");
  EXPECT_EQ(OfDevices("1x1", 4), "1x4");
  EXPECT_EQ(OfDevices("1x4", 1), "1x1");
  EXPECT_THAT(OfDevices("4x2", 6), HasSubstr("no multiple of the 4"));
  EXPECT_THAT(OfDevices("2x2", 8192), HasSubstr("4096"));
}

TEST(WhatIfTest, NearMeshesComeByHalvingAndDoubling) {
  std::vector<std::string> names;
  for (const v1::MeshSpec& mesh : MeshesNear(*ParseMesh("1x4"))) {
    names.push_back(absl::StrJoin(mesh.shape(), "x"));
  }
  EXPECT_THAT(names, testing::ElementsAre("1x2", "1x8", "1x16", "1x32"));
  EXPECT_TRUE(MeshesNear(*ParseMesh("1x1")).empty());
  EXPECT_FALSE(MeshesNear(*ParseMesh("1x4096")).empty());
}

TEST(LinksFileTest, ReadsOneOfEachPerAxis) {
  const std::string path = testing::TempDir() + "/links.json";
  ASSERT_TRUE(
      base::WriteFile(path, R"({"alpha":[0,1e-6],"beta":[0,1e-10]})").ok());
  const auto links = LoadLinks(path, *ParseMesh("1x2"));
  ASSERT_TRUE(links.ok()) << links.status();
  ASSERT_EQ(links->size(), 2u);
  EXPECT_EQ((*links)[1].alpha, 1e-6);
  EXPECT_EQ((*links)[1].beta, 1e-10);
}

TEST(LinksFileTest, WhatIsNoTableIsNamed) {
  const std::string path = testing::TempDir() + "/no_links.json";
  const std::pair<const char*, const char*> cases[] = {
      {"", "not JSON"},
      {"[]", "not an object"},
      {R"({"alpha":[0,0]})", "beta is missing"},
      {R"({"alpha":3,"beta":[0,0]})", "alpha is number, not a list"},
      {R"({"alpha":[0],"beta":[0,0]})", "alpha has 1 figures, but mesh 1x2"},
      {R"({"alpha":[0,-1],"beta":[0,0]})", "alpha[1] is no number"},
      {R"({"alpha":[0,0],"beta":["a",0]})", "beta[0] is no number"}};
  for (const auto& [text, says] : cases) {
    ASSERT_TRUE(base::WriteFile(path, text).ok());
    const auto links = LoadLinks(path, *ParseMesh("1x2"));
    EXPECT_EQ(links.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(links.status().message()), HasSubstr(says));
    EXPECT_THAT(std::string(links.status().message()), HasSubstr(path));
  }
}

}  // namespace
}  // namespace meshwright::cli
