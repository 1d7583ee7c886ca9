#include "profiledb/open.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "profiledb/ownership.h"

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

TEST(OpenTest, AStoreHasOneCoordinatorUnderAllItsNames) {
  const std::string root =
      absl::StrCat(testing::TempDir(), "/owned_test_", getpid());
  std::filesystem::remove_all(root);
  ASSERT_TRUE(OpenProfileStore(root + "/a/profiles.db").ok());
  std::filesystem::create_symlink("a/profiles.db", root + "/link.db");
  std::filesystem::create_directory_symlink("a", root + "/folder");
  const auto owner = StoreOwnership::Take(root + "/a/profiles.db");
  ASSERT_TRUE(owner.ok()) << owner.status();
  for (const char* const name : {"/a/profiles.db", "/a/../a/profiles.db",
                                 "/link.db", "/folder/profiles.db"}) {
    EXPECT_EQ(StoreOwnership::Take(root + name).status().code(),
              absl::StatusCode::kAlreadyExists)
        << name;
  }
}

TEST(OpenTest, AStoreWithSeveralHardLinksIsNotOpened) {
  const std::string root =
      absl::StrCat(testing::TempDir(), "/linked_test_", getpid());
  std::filesystem::remove_all(root);
  ASSERT_TRUE(OpenProfileStore(root + "/profiles.db").ok());
  std::filesystem::create_hard_link(root + "/profiles.db", root + "/b.db");
  for (const char* const name : {"/profiles.db", "/b.db"}) {
    EXPECT_EQ(OpenProfileStore(root + name).status().code(),
              absl::StatusCode::kFailedPrecondition)
        << name;
    EXPECT_EQ(OpenPlanStore(root + name).status().code(),
              absl::StatusCode::kFailedPrecondition)
        << name;
  }
  std::filesystem::remove(root + "/b.db");
  EXPECT_TRUE(OpenProfileStore(root + "/profiles.db").ok());
}

TEST(OpenTest, SaysWhatIsWrongWithAPath) {
  EXPECT_EQ(OpenProfileStore("").status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(OpenProfileStore(testing::TempDir()).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(OpenProfileStore("/dev/null/x/profiles.db").ok());
}

TEST(OpenTest, AUrlIsNoPath) {
  EXPECT_TRUE(IsPostgresUrl("postgres://host/database"));
  EXPECT_TRUE(IsPostgresUrl("postgresql:///database"));
  EXPECT_FALSE(IsPostgresUrl("postgres/profiles.db"));
  for (const char* const scheme : {"postgres", "postgresql"}) {
    const absl::Status status =
        OpenProfileStore(absl::StrCat(scheme, "://u:secret@h/d?colour=red"))
            .status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message().find("secret"), std::string::npos) << status;
  }
}

TEST(OpenTest, AStoreIsDescribedWithoutItsPassword) {
  EXPECT_EQ(DescribeStorePath("/a/profiles.db"), "/a/profiles.db");
  EXPECT_EQ(DescribeStorePath("postgres://u:secret@h:5433/d"),
            "postgres://u@h:5433/d");
  EXPECT_EQ(DescribeStorePath("postgresql:///d?host=/run&password=secret"),
            "postgres:///d?host=/run");
  EXPECT_EQ(DescribeStorePath("postgres://u:secret@h/%zz"), "postgres://");
}

TEST(OpenTest, TheDefaultIsInTheUsersDataFolder) {
  setenv("XDG_DATA_HOME", "/data", 1);
  EXPECT_EQ(*FindDefaultStore(), "/data/meshwright/profiles.db");
  unsetenv("XDG_DATA_HOME");
  setenv("HOME", "/home/a", 1);
  EXPECT_EQ(*FindDefaultStore(), "/home/a/.local/share/meshwright/profiles.db");
}

}  // namespace
}  // namespace meshwright::store
