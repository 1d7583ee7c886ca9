#include "cli/flags/links_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "cli/flags/arguments.h"

namespace meshwright::cli {
namespace {

using testing::HasSubstr;

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

TEST(LinksFileTest, ReadsThoseOfAClustersMesh) {
  const std::string path = testing::TempDir() + "/cluster.json";
  ASSERT_TRUE(base::WriteFile(path, R"({
    "devices": ["gpu[0-3]"],
    "link_classes": [{"name": "pcie", "alpha": 2e-6, "beta": 5e-11},
                     {"name": "nvlink", "alpha": 1e-6, "beta": 5e-12}],
    "groups": [{"name": "box", "class": "pcie", "members": ["gpu[0-3]"]}],
    "links": [{"class": "nvlink", "devices": ["gpu0", "gpu2"]},
              {"class": "nvlink", "devices": ["gpu1", "gpu3"]}]})")
                  .ok());
  const auto links = LoadLinks(path, *ParseMesh("2x2"));
  ASSERT_TRUE(links.ok()) << links.status();
  EXPECT_EQ((*links)[0].beta, 5e-11);
  EXPECT_EQ((*links)[1].beta, 5e-12);
  EXPECT_THAT(
      std::string(LoadLinks(path, *ParseMesh("2x4")).status().message()),
      HasSubstr("mesh 2x4 has 8 places, but the cluster has 4"));
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
