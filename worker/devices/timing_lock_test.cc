#include "worker/devices/timing_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace meshwright::worker::devices {
namespace {

using ::testing::ElementsAre;

class TimingLockTest : public testing::Test {
 protected:
  using Groups = std::vector<std::string>;
  std::unique_ptr<TimingLock> Open(const Groups& groups) {
    auto lock = TimingLock::Open(groups, testing::TempDir());
    EXPECT_TRUE(lock.ok()) << lock.status();
    return *std::move(lock);
  }
  // Whether it could be had at once.
  bool Share(TimingLock& lock) {
    return lock.Share(absl::ZeroDuration(), [] {}).ok();
  }
  bool Exclude(TimingLock& lock) {
    return lock.Exclude(absl::ZeroDuration(), [] {}).ok();
  }
};

TEST(TimingGroupTest, AMachinesCpuOrOneAccelerator) {
  EXPECT_THAT(NameTimingGroups("cpu", {"TFRT_CPU_0"}), ElementsAre("cpu"));
  EXPECT_THAT(NameTimingGroups("cuda", {"GPU 1/2", "GPU-0", "GPU 1/2"}),
              ElementsAre("GPU-0", "GPU-1-2"));
}

TEST(TimingFolderTest, IsTheFirstInWhichEverybodyMakesFiles) {
  namespace fs = std::filesystem;
  const std::string root = testing::TempDir() + "/timing_folder";
  fs::remove_all(root);
  const auto make = [&](const std::string& folder, fs::perms mode) {
    fs::create_directories(root + folder);
    fs::permissions(root + folder, mode);
  };
  EXPECT_EQ(FindTimingFolder(root), root + "/tmp");
  make("/run/lock", fs::perms(0755));
  EXPECT_EQ(FindTimingFolder(root), root + "/tmp");
  make("/run/lock", fs::perms(01777));
  EXPECT_EQ(FindTimingFolder(root), root + "/run/lock");
  make("/run/meshwright-timing", fs::perms(0700));
  EXPECT_EQ(FindTimingFolder(root), root + "/run/lock");
  make("/run/meshwright-timing", fs::perms(01777));
  EXPECT_EQ(FindTimingFolder(root), root + "/run/meshwright-timing");
  fs::remove_all(root);
}

TEST_F(TimingLockTest, OneTimesAtATimeAndManyCompile) {
  const auto one = Open({"group"});
  const auto other = Open({"group"});
  EXPECT_TRUE(Share(*one));
  EXPECT_TRUE(Share(*other));
  EXPECT_FALSE(Exclude(*other)) << "beside one that compiles";
  one->Release();
  EXPECT_TRUE(Exclude(*other));
  EXPECT_FALSE(Share(*one)) << "beside one that times";
  EXPECT_FALSE(Exclude(*one));
  other->Release();
  EXPECT_TRUE(Exclude(*one));
}

// Every user of the machine may make files in the folder of the locks.
TEST_F(TimingLockTest, APipeInItsPlaceHoldsNobodyUp) {
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / "meshwright-timing-pipe.lock";
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0666), 0);
  const auto one = Open({"pipe"});
  const auto other = Open({"pipe"});
  EXPECT_TRUE(Exclude(*one));
  EXPECT_FALSE(Exclude(*other));
}

TEST_F(TimingLockTest, GroupsOfDevicesAreApart) {
  const auto one = Open({"first"});
  const auto other = Open({"second"});
  EXPECT_TRUE(Exclude(*one));
  EXPECT_TRUE(Exclude(*other));
}

TEST_F(TimingLockTest, RunnersWhoseDevicesOverlapExcludeEachOther) {
  const auto four = Open({"gpu-0", "gpu-1", "gpu-2", "gpu-3"});
  const auto one = Open({"gpu-2"});
  const auto apart = Open({"gpu-4"});
  ASSERT_TRUE(Exclude(*one));
  EXPECT_FALSE(Exclude(*four));
  EXPECT_FALSE(Share(*four));
  const auto first = Open({"gpu-0"});
  EXPECT_TRUE(Exclude(*first)) << "who did not get all of them holds none";
  first->Release();
  one->Release();
  EXPECT_TRUE(Exclude(*four));
  EXPECT_FALSE(Exclude(*one));
  EXPECT_TRUE(Exclude(*apart));
}

TEST_F(TimingLockTest, NamedInAnotherOrderNobodyWaitsInACircle) {
  const auto one = Open({"a", "b"});
  const auto other = Open({"b", "a"});
  // Both compile, and both want to time.
  ASSERT_TRUE(Share(*one));
  ASSERT_TRUE(Share(*other));
  EXPECT_FALSE(Exclude(*one)) << "it has let go of what it held";
  EXPECT_TRUE(Exclude(*other));
}

TEST_F(TimingLockTest, WaitingIsSaidOnceAndEndsWithOneSentence) {
  const auto one = Open({"waits"});
  const auto other = Open({"waits"});
  ASSERT_TRUE(Exclude(*one));
  int waits = 0;
  const absl::Status status =
      other->Exclude(absl::Milliseconds(100), [&] { ++waits; });
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(waits, 1);
}

TEST_F(TimingLockTest, TheLockEndsWithItsHolder) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto held = TimingLock::Open({"holder"}, testing::TempDir());
    const bool good =
        held.ok() && (*held)->Exclude(absl::ZeroDuration(), [] {}).ok();
    const char said = good ? '1' : '0';
    if (write(ready[1], &said, 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  char said = 0;
  ASSERT_EQ(read(ready[0], &said, 1), 1);
  ASSERT_EQ(said, '1');
  const auto lock = Open({"holder"});
  EXPECT_FALSE(Exclude(*lock));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(Exclude(*lock));
}

TEST_F(TimingLockTest, AFolderThatIsNotThereIsOneSentence) {
  const auto lock = TimingLock::Open({"group"}, "/nowhere");
  EXPECT_EQ(lock.status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace meshwright::worker::devices
