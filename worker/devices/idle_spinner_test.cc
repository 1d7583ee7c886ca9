#include "worker/devices/idle_spinner.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace meshwright::worker::devices {
namespace {

absl::Duration CpuTime(pid_t pid) {
  clockid_t clock;
  timespec now{};
  if (clock_getcpuclockid(pid, &clock) == 0) clock_gettime(clock, &now);
  return absl::DurationFromTimespec(now);
}

// R: runs; T: stopped.
char ReadState(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/status"));
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind("State:", 0) == 0) return line.at(7);
  }
  return '-';
}

class IdleSpinnerTest : public testing::Test {
 protected:
  void SetUp() override {
    cores_ = IdleSpinner::Start(absl::StrCat(
        std::getenv("MESHWRIGHT_BUILD_DIR"), "/bin/", "meshwright-runner"));
    if (cores_ == nullptr) GTEST_SKIP() << "no cores may be kept awake here";
  }

  // A stop takes until every thread has seen it, however loaded the machine.
  void WaitUntilStopped() const {
    siginfo_t stop{};
    EXPECT_EQ(waitid(P_PID, cores_->pid(), &stop, WSTOPPED), 0);
  }

  std::unique_ptr<IdleSpinner> cores_;
};

TEST_F(IdleSpinnerTest, TheyAreKeptAwakeOnlyMeanwhile) {
  const pid_t pid = cores_->pid();
  EXPECT_GT(cores_->count(), 0);
  EXPECT_EQ(ReadState(pid), 'T');
  for (int i = 0; i < 3; ++i) {
    const absl::Duration before = CpuTime(pid);
    {
      const ScopedSpin awake(cores_.get());
      // On a loaded machine they may get little: that is waited for.
      while (CpuTime(pid) - before < absl::Milliseconds(5)) {
        absl::SleepFor(absl::Milliseconds(1));
      }
    }
    WaitUntilStopped();
    EXPECT_EQ(ReadState(pid), 'T');
  }
}

TEST_F(IdleSpinnerTest, NothingIsLeft) {
  const pid_t pid = cores_->pid();
  cores_->Spin();
  cores_.reset();
  EXPECT_EQ(kill(pid, 0), -1);
}

TEST(IdleSpinnerStartTest, WhereTheProgramCannotThereIsNone) {
  EXPECT_EQ(IdleSpinner::Start("/nonexistent/runner"), nullptr);
  EXPECT_EQ(IdleSpinner::Start("/bin/false"), nullptr);
}

}  // namespace
}  // namespace meshwright::worker::devices
