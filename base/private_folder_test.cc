#include "base/private_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/file.h"

namespace meshwright::base {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class PrivateFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(parent_);
    fs::create_directory(parent_);
  }
  void TearDown() override { fs::remove_all(parent_); }
  std::unique_ptr<PrivateFolder> Make() const {
    auto folder = PrivateFolder::Make(parent_, "test-");
    EXPECT_TRUE(folder.ok()) << folder.status();
    return folder.ok() ? *std::move(folder) : nullptr;
  }
  // The folder left by a process that died by kill -9.
  std::string LeaveOne() const {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      const auto folder = Make();
      if (!folder->WriteFile("job", "secret").ok()) _exit(1);
      if (write(ends[1], folder->path().data(), folder->path().size()) < 0) {
        _exit(1);
      }
      raise(SIGKILL);
    }
    close(ends[1]);
    char path[4096] = {};
    EXPECT_GT(read(ends[0], path, sizeof(path) - 1), 0);
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return path;
  }

  const std::string parent_ = ::testing::TempDir() + "/private_folder_test";
};

TEST_F(PrivateFolderTest, FilesAreForTheOwnerAloneWhateverTheUmask) {
  const mode_t old = umask(0);
  const auto folder = Make();
  ASSERT_TRUE(folder->WriteFile("job", "content").ok());
  umask(old);
  EXPECT_EQ(fs::status(folder->path()).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(folder->path() + "/job").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_TRUE(folder->locked().ok()) << folder->locked();
}

TEST_F(PrivateFolderTest, ALinkInTheWayIsReplacedNotFollowed) {
  const auto folder = Make();
  const std::string victim = parent_ + "/victim";
  ASSERT_TRUE(base::WriteFile(victim, "untouched").ok());
  fs::create_symlink(victim, folder->path() + "/job");
  ASSERT_TRUE(folder->WriteFile("job", "content").ok());
  EXPECT_EQ(*base::ReadFile(victim), "untouched");
  EXPECT_EQ(*base::ReadFile(folder->path() + "/job"), "content");
}

TEST_F(PrivateFolderTest, ItGoesWithItsOwner) {
  std::string path;
  {
    const auto folder = Make();
    path = folder->path();
    ASSERT_TRUE(folder->WriteFile("job", "content").ok());
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(PrivateFolderTest, OfAKilledOwnerItIsSwept) {
  const auto alive = Make();
  const std::string left = LeaveOne();
  ASSERT_TRUE(fs::exists(left + "/job"));
  fs::create_directory(parent_ + "/other-");
  fs::create_directory_symlink(parent_ + "/other-", parent_ + "/test-aaaaaa");
  EXPECT_EQ(PrivateFolder::Sweep(parent_, "test-"), 1);
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(alive->path()));
  EXPECT_TRUE(fs::exists(parent_ + "/other-"));
  EXPECT_EQ(PrivateFolder::Sweep(parent_, "test-"), 0);
}

TEST_F(PrivateFolderTest, OfAnotherUserItIsLeftAlone) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may give a folder away";
  const std::string other = parent_ + "/test-bbbbbb";
  fs::create_directory(other);
  ASSERT_EQ(chown(other.c_str(), 65534, 65534), 0);
  EXPECT_EQ(PrivateFolder::Sweep(parent_, "test-"), 0);
  EXPECT_TRUE(fs::exists(other));
}

TEST_F(PrivateFolderTest, WhereNoneCanBeMadeIsSaid) {
  const auto folder = PrivateFolder::Make("/nowhere", "test-");
  EXPECT_THAT(std::string(folder.status().message()), HasSubstr("/nowhere"));
  EXPECT_EQ(PrivateFolder::Sweep("/nowhere", "test-"), 0);
}

}  // namespace
}  // namespace meshwright::base
