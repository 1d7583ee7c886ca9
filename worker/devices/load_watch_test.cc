#include "worker/devices/load_watch.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <fstream>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/clock.h"

namespace meshwright::worker::devices {
namespace {

namespace fs = std::filesystem;

// A machine whose /proc/stat is written by the test.
class LoadWatchTest : public testing::Test {
 protected:
  LoadWatchTest()
      : root_(fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::create_directories(root_ / "proc");
    SetBusySeconds(0);
  }
  // Of every processor.
  void SetBusySeconds(double seconds) {
    const auto ticks = static_cast<int64_t>(
        seconds * static_cast<double>(sysconf(_SC_CLK_TCK)));
    std::ofstream file(root_ / "proc/stat");
    file << "cpu  99999 0 0 0 0 0 0 0 0 0\n";
    for (int i = 0; i < CPU_SETSIZE; ++i) {
      file << "cpu" << i << " " << ticks << " 0 0 12345 77 0 0 0 0 0\n";
    }
    file << "intr 1 2 3\n";
  }
  LoadWatch::Reading Read(const LoadWatch& watch, absl::Time time,
                          absl::Duration own) {
    LoadWatch::Reading reading = *watch.Read();
    reading.time = time;
    reading.own = own;
    return reading;
  }
  int Processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof(set), &set);
    return CPU_COUNT(&set);
  }
  const fs::path root_;
  const absl::Time start_ = absl::FromUnixSeconds(1000);
};

TEST_F(LoadWatchTest, OthersAreWhatIsBusyLessItsOwnTime) {
  const LoadWatch watch({}, root_);
  const auto from = Read(watch, start_, absl::ZeroDuration());
  SetBusySeconds(6);
  const auto to =
      Read(watch, start_ + absl::Seconds(10), absl::Seconds(2) * Processors());
  EXPECT_NEAR(watch.MeasureOtherShare(from, to), 0.4, 1e-6);
}

// A share is of the time between two readings, which a step of the wall clock
// would change.
TEST_F(LoadWatchTest, AReadingHasTheTimeOfTheSteadyClock) {
  const base::SteadyClock clock;
  const absl::Time before = clock.Now();
  const auto reading = LoadWatch({}, root_).Read();
  ASSERT_TRUE(reading.has_value());
  EXPECT_GE(reading->time, before);
  EXPECT_LE(reading->time, clock.Now());
}

TEST_F(LoadWatchTest, OneBusyProcessAmongManyProcessorsIsSeen) {
  std::vector<int> processors(32);
  std::iota(processors.begin(), processors.end(), 0);
  const LoadWatch watch({}, root_, processors);
  EXPECT_EQ(watch.processors(), 32);
  const auto from = Read(watch, start_, absl::ZeroDuration());
  SetBusySeconds(10);
  // All are busy; this process has 31 of them, or 310 of 320 seconds.
  const auto to = Read(watch, start_ + absl::Seconds(10), absl::Seconds(310));
  EXPECT_NEAR(watch.MeasureOtherShare(from, to), 1.0 / 32, 1e-6);
}

TEST_F(LoadWatchTest, AMachineOfItsOwnHasNoOthers) {
  const LoadWatch watch({}, root_);
  const auto from = Read(watch, start_, absl::ZeroDuration());
  SetBusySeconds(10);
  const auto to = Read(watch, start_ + absl::Seconds(10),
                       absl::Seconds(10.01) * Processors());
  EXPECT_EQ(watch.MeasureOtherShare(from, to), 0);
}

TEST_F(LoadWatchTest, HelpersCountAsItsOwn) {
  fs::create_directories(root_ / "proc/77");
  std::ofstream(root_ / "proc/77/stat")
      << "77 (a (b) c) R 1 1 1 0 -1 4 0 0 0 0 " << 3 * sysconf(_SC_CLK_TCK)
      << " " << sysconf(_SC_CLK_TCK) << " 0 0 20 0\n";
  const LoadWatch alone({}, root_);
  const LoadWatch helped({77}, root_);
  EXPECT_NEAR(absl::ToDoubleSeconds(helped.Read()->own - alone.Read()->own), 4,
              0.5);
}

TEST_F(LoadWatchTest, ASpentQuotaIsOthersUse) {
  fs::create_directories(root_ / "proc/self");
  fs::create_directories(root_ / "sys/fs/cgroup");
  std::ofstream(root_ / "proc/self/cgroup") << "0::/\n";
  std::ofstream(root_ / "sys/fs/cgroup/cpu.stat") << "throttled_usec 0\n";
  const LoadWatch watch({}, root_);
  const absl::Time start = absl::UnixEpoch();
  const auto from = Read(watch, start, absl::ZeroDuration());
  std::ofstream(root_ / "sys/fs/cgroup/cpu.stat") << "throttled_usec 900000\n";
  const auto to = Read(watch, start + absl::Seconds(1), absl::ZeroDuration());
  EXPECT_GT(watch.MeasureOtherShare(from, to), 0);
}

TEST_F(LoadWatchTest, WaitingForACalmMachineEnds) {
  const LoadWatch watch({}, root_);
  int waits = 0;
  EXPECT_EQ(watch.WaitForCalm(0.1, absl::Seconds(5), [&](double) { ++waits; }),
            0);
  EXPECT_EQ(waits, 0);
}

TEST_F(LoadWatchTest, AKernelThatSaysNothingIsCalm) {
  const LoadWatch watch({}, root_ / "nowhere");
  EXPECT_FALSE(watch.Read().has_value());
  EXPECT_EQ(watch.WaitForCalm(0.1, absl::Seconds(5), [](double) {}), 0);
  EXPECT_EQ(watch.MeasureOtherShare(), 0);
}

}  // namespace
}  // namespace meshwright::worker::devices
