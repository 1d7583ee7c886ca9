#include "worker/runner/quiet_period.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/file.h"

namespace meshwright::worker::runner {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(PatienceTest, AMachineThatStaysBusyCostsABatchTwiceTheLimit) {
  Patience patience(absl::Seconds(5));
  absl::Duration waited;
  for (int group = 0; group < 1000; ++group) {
    waited += patience.left();
    patience.NoteWait(false);
  }
  EXPECT_LE(waited, absl::Seconds(10));
}

TEST(PatienceTest, ACalmMachineRestoresIt) {
  Patience patience(absl::Seconds(5));
  patience.NoteWait(false);
  patience.NoteWait(false);
  EXPECT_LT(patience.left(), absl::Seconds(2));
  patience.NoteWait(true);
  EXPECT_EQ(patience.left(), absl::Seconds(5));
}

// A machine of four processors; a second passes between two readings. `busy` is
// what others do then, in seconds of a processor; the last goes on for ever.
class ScriptedLoad : public devices::LoadWatch {
 public:
  explicit ScriptedLoad(std::deque<double> busy)
      : LoadWatch({}, "/nowhere", {0, 1, 2, 3}), busy_(std::move(busy)) {}

  std::optional<Reading> Read() const override {
    const Reading now = next_;
    next_.time += absl::Seconds(1);
    next_.busy += absl::Seconds(busy_.front());
    if (busy_.size() > 1) busy_.pop_front();
    return now;
  }

 private:
  mutable std::deque<double> busy_;
  mutable Reading next_;
};

class QuietPeriodTest : public ::testing::Test {
 protected:
  QuietPeriodTest()
      : folder_(
            fs::path(::testing::TempDir()) /
            ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    auto events = sandbox::EventWriter::Open(folder_ / "events");
    EXPECT_TRUE(events.ok()) << events.status();
    events_ = *std::move(events);
  }
  std::unique_ptr<devices::TimingLock> OpenLock() {
    auto lock = devices::TimingLock::Open({"group"}, folder_);
    EXPECT_TRUE(lock.ok()) << lock.status();
    return *std::move(lock);
  }
  std::vector<std::string> Waits() {
    std::vector<std::string> reasons;
    sandbox::EventParser parser;
    const auto events = parser.Feed(*base::ReadFile(folder_ / "events"));
    EXPECT_TRUE(events.ok()) << events.status();
    for (const v1::RunnerEvent& event : *events) {
      if (event.has_waiting()) reasons.push_back(event.waiting().reason());
    }
    return reasons;
  }
  static bool IsBusy(const timing::Surroundings& around) {
    return around.other_load > around.busy_share;
  }

  const fs::path folder_;
  std::unique_ptr<sandbox::EventWriter> events_;
  Patience patience_{absl::Seconds(5)};
};

TEST_F(QuietPeriodTest, WithoutPartsNothingIsSeen) {
  const QuietMachine machine;
  const QuietPeriod quiet(machine, patience_, *events_);
  EXPECT_FALSE(IsBusy(quiet.LookAround()));
}

TEST_F(QuietPeriodTest, WhereAnotherProcessTimesTheRowsSaySo) {
  const auto theirs = OpenLock();
  ASSERT_TRUE(theirs->Exclude(absl::ZeroDuration(), [] {}).ok());
  const auto ours = OpenLock();
  QuietMachine machine;
  machine.lock = ours.get();
  machine.lock_limit = absl::ZeroDuration();
  const QuietPeriod quiet(machine, patience_, *events_);
  EXPECT_EQ(quiet.LookAround().other_load, 1);
  EXPECT_TRUE(IsBusy(quiet.LookAround()));
}

TEST_F(QuietPeriodTest, TheDevicesAreItsOwnUntilItEnds) {
  const auto ours = OpenLock();
  const auto theirs = OpenLock();
  QuietMachine machine;
  machine.lock = ours.get();
  {
    const QuietPeriod quiet(machine, patience_, *events_);
    EXPECT_FALSE(theirs->Share(absl::ZeroDuration(), [] {}).ok());
    EXPECT_FALSE(IsBusy(quiet.LookAround()));
  }
  EXPECT_TRUE(theirs->Share(absl::ZeroDuration(), [] {}).ok());
}

TEST_F(QuietPeriodTest, ABusyMachineIsWaitedForOnce) {
  // Two looks of two readings; the second finds it calm.
  ScriptedLoad load({3, 3, 0.1});
  QuietMachine machine;
  machine.load = &load;
  const QuietPeriod quiet(machine, patience_, *events_);
  EXPECT_THAT(Waits(), ElementsAre(HasSubstr("use 3.0 of its 4 processors")));
  EXPECT_FALSE(IsBusy(quiet.LookAround()));
  EXPECT_EQ(patience_.left(), absl::Seconds(5));
}

TEST_F(QuietPeriodTest, WhoseWaitIsInVainGoesOnAndSaysSo) {
  ScriptedLoad load({1});  // one busy process
  QuietMachine machine;
  machine.load = &load;
  Patience patience(absl::ZeroDuration());
  const QuietPeriod quiet(machine, patience, *events_);
  EXPECT_NEAR(quiet.LookAround().other_load, 0.25, 1e-9);
  EXPECT_TRUE(IsBusy(quiet.LookAround()));
}

TEST_F(QuietPeriodTest, WhatOthersDidBeforeTheTimingDoesNotCount) {
  // Calm while it waits; busy until the timing begins, and calm again.
  ScriptedLoad load({0, 0, 4, 0});
  QuietMachine machine;
  machine.load = &load;
  QuietPeriod quiet(machine, patience_, *events_);
  EXPECT_TRUE(IsBusy(quiet.LookAround()));
  quiet.Begin();
  EXPECT_FALSE(IsBusy(quiet.LookAround()));
  EXPECT_THAT(Waits(), IsEmpty());
}

TEST_F(QuietPeriodTest, HeatMeanwhileIsSaidAndHeatBeforeIsNot) {
  const fs::path counts =
      folder_ / "sys/devices/system/cpu/cpu0/thermal_throttle";
  fs::create_directories(counts);
  const auto count = [&](int events) {
    std::ofstream(counts / "core_throttle_count") << events << "\n";
  };
  count(7);
  const devices::HeatCounter heat(folder_, {0});
  QuietMachine machine;
  machine.heat = &heat;
  QuietPeriod quiet(machine, patience_, *events_);
  EXPECT_FALSE(quiet.LookAround().throttled);
  count(8);
  EXPECT_TRUE(quiet.LookAround().throttled);
  quiet.Begin();
  EXPECT_FALSE(quiet.LookAround().throttled);
}

// The double's two devices are both held down.
std::unique_ptr<devices::Sensors> OpenSensors() {
  auto sensors = devices::Sensors::Open(
      2, MESHWRIGHT_DOUBLES "/nvidia/cu13/lib/libnvidia-ml.so.1");
  EXPECT_TRUE(sensors.ok()) << sensors.status();
  return *std::move(sensors);
}

TEST_F(QuietPeriodTest, AnAcceleratorsSensorsAreReadWithoutCollectors) {
  const auto sensors = OpenSensors();
  QuietMachine machine;
  machine.sensors = sensors.get();
  const QuietPeriod quiet(machine, patience_, *events_);
  const timing::Surroundings around = quiet.LookAround();
  EXPECT_TRUE(around.throttled);
  ASSERT_TRUE(around.sensors.has_value());
  EXPECT_EQ(around.sensors->temperature_celsius(), 75);
}

TEST_F(QuietPeriodTest, WhoElseUsesTheAcceleratorIsSaid) {
  const auto sensors = OpenSensors();
  ScriptedLoad load({0.4});  // a tenth of the host's processors
  QuietMachine machine;
  machine.sensors = sensors.get();
  machine.load = &load;
  machine.busy_share = timing::kBusyHostShare;
  Patience patience(absl::ZeroDuration());
  const QuietPeriod quiet(machine, patience, *events_);
  EXPECT_FALSE(IsBusy(quiet.LookAround()));
  EXPECT_NEAR(quiet.LookAround().other_load, 0.1, 1e-9);
  setenv("NVML_DOUBLE_OTHERS", "20", 1);
  EXPECT_TRUE(IsBusy(quiet.LookAround()));
  EXPECT_NEAR(quiet.LookAround().other_load, 0.2, 1e-9);
  unsetenv("NVML_DOUBLE_OTHERS");
  EXPECT_THAT(Waits(), IsEmpty());
}

// In a container all are others; the double's devices are never idle.
TEST_F(QuietPeriodTest, WhereNvmlKnowsNobodyTheDevicesAreIdleBefore) {
  const auto sensors = OpenSensors();
  QuietMachine machine;
  machine.sensors = sensors.get();
  Patience patience(absl::ZeroDuration());
  setenv("NVML_DOUBLE_HIDES", "1", 1);
  const QuietPeriod quiet(machine, patience, *events_);
  unsetenv("NVML_DOUBLE_HIDES");
  EXPECT_THAT(Waits(), ElementsAre(HasSubstr("97 % of one")));
  EXPECT_TRUE(IsBusy(quiet.LookAround()));
}

TEST_F(QuietPeriodTest, OthersMayCompileBesideOneThatCompiles) {
  const auto ours = OpenLock();
  const auto theirs = OpenLock();
  QuietMachine machine;
  machine.lock = ours.get();
  const CompilePeriod period(machine, *events_);
  EXPECT_TRUE(theirs->Share(absl::ZeroDuration(), [] {}).ok());
  EXPECT_FALSE(theirs->Exclude(absl::ZeroDuration(), [] {}).ok());
}

}  // namespace
}  // namespace meshwright::worker::runner
