#include "worker/detect/device_sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "absl/strings/str_cat.h"
#include "worker/pjrt/plugin.h"

namespace meshwright::worker::detect {
namespace {

using cluster::DeviceIndex;
using cluster::Operation;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

DeviceSweepOptions OnCpu(int devices) {
  DeviceSweepOptions options;
  options.plugin = *pjrt::FindPlugin("cpu", "");
  options.devices = devices;
  options.maximum_bytes = 64 << 10;
  return options;
}

// Of the plugin double with these settings (tests/doubles/pjrt.cc).
DeviceSweepOptions OnDouble(const std::string& settings) {
  static int number = 0;
  const std::string folder =
      absl::StrCat(testing::TempDir(), "/sweep", getpid(), "-", ++number);
  std::filesystem::create_directories(folder);
  DeviceSweepOptions options;
  options.plugin = folder + "/pjrt_double.so";
  std::filesystem::copy_file(MESHWRIGHT_DOUBLES "/pjrt_double.so",
                             options.plugin);
  std::ofstream(folder + "/pjrt_double.conf") << "devices 3\nrun_ns 1000\n"
                                              << settings << "\n";
  options.platform = "cuda";
  options.devices = 0;
  options.maximum_bytes = 4 << 10;
  return options;
}

std::map<std::pair<Operation, size_t>, int> CountTimings(
    const DeviceSweep& sweep) {
  std::map<std::pair<Operation, size_t>, int> counts;
  for (const cluster::GroupTiming& it : sweep.timings) {
    EXPECT_GE(it.timing.seconds, 0);
    EXPECT_EQ(it.timing.devices, std::ssize(it.devices));
    ++counts[{it.timing.operation, it.devices.size()}];
  }
  return counts;
}

TEST(DeviceSweepTest, EveryPairAndGroupOfTheCpuBackend) {
  DeviceSweepOptions options = OnCpu(4);
  int reports = 0;
  options.report = [&](const std::string&) { ++reports; };
  const auto sweep = SweepDevices(options);
  ASSERT_TRUE(sweep.ok()) << sweep.status();
  EXPECT_EQ(sweep->devices, 4u);
  EXPECT_THAT(sweep->missing, IsEmpty());
  EXPECT_EQ(reports, 6 + 2 * 4);
  auto counts = CountTimings(*sweep);
  EXPECT_EQ((counts[{Operation::kSendReceive, 2}]), 6 * 4);
  for (const Operation operation :
       {Operation::kAllReduce, Operation::kAllGather, Operation::kReduceScatter,
        Operation::kAllToAll}) {
    EXPECT_EQ((counts[{operation, 2}]), 4);
    EXPECT_EQ((counts[{operation, 4}]), 4);
  }
}

TEST(DeviceSweepTest, OneDeviceHasNoLink) {
  EXPECT_EQ(SweepDevices(OnCpu(1)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(DeviceSweepTest, ASeriesThatEndsTheProcessIsMissingAlone) {
  const auto sweep = SweepDevices(OnDouble("crash send-receive_0_2"));
  ASSERT_TRUE(sweep.ok()) << sweep.status();
  EXPECT_EQ(sweep->devices, 3u);
  ASSERT_THAT(sweep->missing, SizeIs(1));
  EXPECT_THAT(sweep->missing[0].series.devices,
              ElementsAre(DeviceIndex(0), DeviceIndex(2)));
  EXPECT_EQ(sweep->missing[0].reason,
            "the plugin ended the process, by SIGABRT");
  auto counts = CountTimings(*sweep);
  EXPECT_EQ((counts[{Operation::kSendReceive, 2}]), 2 * 2);
  EXPECT_EQ((counts[{Operation::kAllToAll, 3}]), 2);
}

TEST(DeviceSweepTest, TheLastSeriesToo) {
  const auto sweep = SweepDevices(OnDouble("crash all-to-all"));
  ASSERT_TRUE(sweep.ok()) << sweep.status();
  ASSERT_THAT(sweep->missing, SizeIs(1));
  EXPECT_EQ(sweep->missing[0].series.operation, Operation::kAllToAll);
  EXPECT_THAT(sweep->timings, SizeIs((3 + 3) * 2));
}

TEST(DeviceSweepTest, ASeriesThatFailsIsMissingWithItsReason) {
  // The largest all-gather has no place.
  const auto sweep = SweepDevices(OnDouble("memory_bytes 12000"));
  ASSERT_TRUE(sweep.ok()) << sweep.status();
  ASSERT_FALSE(sweep->missing.empty());
  for (const MissingSeries& it : sweep->missing) {
    EXPECT_THAT(it.reason, HasSubstr("no memory left"));
  }
}

TEST(DeviceSweepTest, APluginThatDoesNotStartIsOneSentence) {
  const auto crashed = SweepDevices(OnDouble("initialize crash"));
  EXPECT_TRUE(absl::IsUnavailable(crashed.status()));
  EXPECT_THAT(std::string(crashed.status().message()),
              AllOf(HasSubstr("pjrt_double.so ends the process that opens it, "
                              "by SIGABRT; see what it printed")));
  const auto refused = SweepDevices(OnDouble("initialize refuse"));
  EXPECT_TRUE(absl::IsFailedPrecondition(refused.status()));
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("does not start: the driver is older"));
}

}  // namespace
}  // namespace meshwright::worker::detect
