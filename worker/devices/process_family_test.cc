#include "worker/devices/process_family.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "absl/strings/str_cat.h"

namespace meshwright::worker::devices {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;

class ProcessFamilyTest : public testing::Test {
 protected:
  // `ticks`: of user, system, and those of its dead children.
  void Add(pid_t process, pid_t parent, const std::string& ticks,
           const std::string& name = "a) (b c") {
    const fs::path folder = root_ / "proc" / absl::StrCat(process);
    fs::create_directories(folder);
    std::ofstream(folder / "stat")
        << process << " (" << name << ") S " << parent
        << " 1 1 0 -1 4194304 100 0 0 0 " << ticks << " 20 0 1 0 1\n";
    std::ofstream(folder / "comm") << name << "\n";
  }
  const fs::path root_ =
      fs::path(testing::TempDir()) /
      testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(ProcessFamilyTest, IsWhatItStartedAndWhatThatStarted) {
  Add(10, 1, "1 2 3 4");
  Add(11, 10, "10 0 0 0");
  Add(12, 11, "100 0 0 0");
  Add(13, 1, "1000 0 0 0");
  const ProcessFamily family = ReadProcessFamily(10, root_);
  EXPECT_THAT(family.members, ElementsAre(10, 11, 12));
  EXPECT_EQ(family.cpu_time, absl::Seconds(1) * 120 / sysconf(_SC_CLK_TCK));
}

TEST_F(ProcessFamilyTest, OneThatIsGoneHasNone) {
  Add(10, 1, "1 2 3 4");
  EXPECT_TRUE(ReadProcessFamily(11, root_).members.empty());
}

TEST_F(ProcessFamilyTest, OfThisProcess) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  EXPECT_THAT(ReadProcessFamily(getpid()).members, Contains(child));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_THAT(ReadProcessFamily(getpid()).members,
              testing::Not(Contains(child)));
}

TEST_F(ProcessFamilyTest, IsNamed) {
  Add(10, 1, "0 0 0 0", "python3");
  EXPECT_EQ(DescribeProcess(10, root_), "process 10 (python3)");
  EXPECT_EQ(DescribeProcess(11, root_), "process 11");
}

}  // namespace
}  // namespace meshwright::worker::devices
