#include "profiledb/open.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_cat.h"

namespace meshwright::store {
namespace {

TEST(OpenTest, MakesTheFoldersOfThePath) {
  const std::string root =
      absl::StrCat(testing::TempDir(), "/open_test_", getpid());
  std::filesystem::remove_all(root);
  const auto store = OpenProfileStore(root + "/a/b/profiles.db");
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_TRUE(std::filesystem::exists(root + "/a/b/profiles.db"));
}

TEST(OpenTest, SaysWhatIsWrongWithAPath) {
  EXPECT_EQ(OpenProfileStore("").status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(OpenProfileStore(testing::TempDir()).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(OpenProfileStore("/dev/null/x/profiles.db").ok());
}

TEST(OpenTest, TheDefaultIsInTheUsersDataFolder) {
  setenv("XDG_DATA_HOME", "/data", 1);
  EXPECT_EQ(*DefaultStorePath(), "/data/meshwright/profiles.db");
  unsetenv("XDG_DATA_HOME");
  setenv("HOME", "/home/a", 1);
  EXPECT_EQ(*DefaultStorePath(), "/home/a/.local/share/meshwright/profiles.db");
}

}  // namespace
}  // namespace meshwright::store
