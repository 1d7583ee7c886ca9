// On plain files in place of a kernel's.
#include "worker/sandbox/memory_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/file.h"

namespace meshwright::worker::sandbox {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class MemoryGroupTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(root_);
    fs::create_directories(root_ / "proc/self");
    fs::create_directories(unit_);
    Write(root_ / "proc/self/cgroup", "0::/unit\n");
    Write(root_ / "sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
    Write(unit_ / "cgroup.controllers", "cpu memory\n");
    Write(unit_ / "cgroup.subtree_control", "\n");
    Write(unit_ / "cgroup.procs", absl::StrCat(getpid(), "\n"));
  }
  void TearDown() override { fs::remove_all(root_); }
  // As a service manager marks it; for other users than root, owning it does.
  bool Delegate() const {
    return geteuid() != 0 ||
           setxattr(unit_.c_str(), "user.delegate", "1", 1, 0) == 0;
  }
  static void Write(const fs::path& path, const std::string& content) {
    ASSERT_TRUE(base::WriteFile(path, content).ok());
  }
  static std::string Read(const fs::path& path) {
    return base::ReadFile(path).value_or("(none)");
  }
  std::string Refusal() const {
    const auto group = MemoryGroup::Make(1000, root_);
    EXPECT_EQ(group.status().code(), absl::StatusCode::kUnavailable);
    return std::string(group.status().message());
  }

  const fs::path root_ = ::testing::TempDir() + "/memory_group_test";
  const fs::path unit_ = root_ / "sys/fs/cgroup/unit";
};

TEST_F(MemoryGroupTest, OfADelegatedUnit) {
  if (!Delegate()) GTEST_SKIP() << "no extended attributes in TMPDIR";
  const auto group = MemoryGroup::Make(1000, root_);
  ASSERT_TRUE(group.ok()) << group.status();
  EXPECT_EQ(Read((*group)->path() / "memory.max"), "1000");
  EXPECT_EQ(Read((*group)->path() / "memory.oom.group"), "1");
  EXPECT_EQ((*group)->path().parent_path(), unit_);
  EXPECT_EQ(Read(unit_ / "meshwright-worker/cgroup.procs"),
            absl::StrCat(getpid()));
  EXPECT_THAT(Read(unit_ / "cgroup.subtree_control"), HasSubstr("+memory"));
  ASSERT_TRUE((*group)->Add(4711).ok());
  EXPECT_EQ(Read((*group)->path() / "cgroup.procs"), "4711");
}

TEST_F(MemoryGroupTest, KillsOfItsOwnLimitAreKeptApart) {
  if (!Delegate()) GTEST_SKIP() << "no extended attributes in TMPDIR";
  const auto group = MemoryGroup::Make(1000, root_);
  ASSERT_TRUE(group.ok()) << group.status();
  EXPECT_FALSE((*group)->TakeKill());
  const auto happen = [&](int oom, int oom_kill) {
    Write((*group)->path() / "memory.events",
          absl::StrCat("low 0\nhigh 0\nmax 9\noom ", oom, "\noom_kill ",
                       oom_kill, "\noom_group_kill ", oom_kill, "\n"));
    return (*group)->TakeKill();
  };
  EXPECT_FALSE(happen(0, 0));
  EXPECT_TRUE(happen(1, 1));
  EXPECT_FALSE(happen(1, 1)) << "it was taken";
  EXPECT_FALSE(happen(1, 2)) << "the machine had no memory left";
  EXPECT_FALSE(happen(2, 2)) << "nothing was ended";
  EXPECT_TRUE(happen(3, 3));
}

// Where the first Make, or the manager, put this process.
TEST_F(MemoryGroupTest, BesideTheWorkersOwnGroup) {
  if (!Delegate()) GTEST_SKIP() << "no extended attributes in TMPDIR";
  fs::create_directory(unit_ / "meshwright-worker");
  Write(root_ / "proc/self/cgroup", "0::/unit/meshwright-worker\n");
  Write(unit_ / "cgroup.subtree_control", "memory\n");
  const auto group = MemoryGroup::Make(1000, root_);
  ASSERT_TRUE(group.ok()) << group.status();
  EXPECT_EQ((*group)->path().parent_path(), unit_);
  EXPECT_FALSE(fs::exists(unit_ / "meshwright-worker/cgroup.procs"));
}

TEST_F(MemoryGroupTest, WhyThereIsNone) {
  if (!Delegate()) GTEST_SKIP() << "no extended attributes in TMPDIR";
  Write(unit_ / "cgroup.procs", absl::StrCat(getpid(), "\n1\n"));
  EXPECT_THAT(Refusal(), HasSubstr("other processes"));
  Write(unit_ / "cgroup.controllers", "cpu\n");
  EXPECT_THAT(Refusal(), HasSubstr("no memory controller"));
  Write(root_ / "proc/self/cgroup", "4:memory:/unit\n");
  EXPECT_THAT(Refusal(), HasSubstr("version 2"));
}

TEST_F(MemoryGroupTest, RootTakesNoGroupThatWasNotGivenToIt) {
  if (geteuid() != 0) GTEST_SKIP() << "it is about root";
  EXPECT_THAT(Refusal(), HasSubstr("no control group is delegated"));
}

}  // namespace
}  // namespace meshwright::worker::sandbox
