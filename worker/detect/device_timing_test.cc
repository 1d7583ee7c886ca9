#include "worker/detect/device_timing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "worker/pjrt/plugin.h"

namespace meshwright::worker::detect {
namespace {

using cluster::Operation;

std::unique_ptr<pjrt::Client> MakeClient(int devices) {
  auto plugin = pjrt::Plugin::Load(*pjrt::FindPlugin("cpu", ""));
  auto client = pjrt::Client::Create(*plugin, {"cpu", devices});
  return *std::move(client);
}

TEST(DeviceTimingTest, EveryPairAndGroupOfTheCpuBackend) {
  const auto client = MakeClient(4);
  DeviceTimingOptions options;
  options.maximum_bytes = 64 << 10;
  int reports = 0;
  options.report = [&](const std::string&) { ++reports; };
  const auto timings = TimeDevices(*client, options);
  ASSERT_TRUE(timings.ok()) << timings.status();
  EXPECT_EQ(reports, 6 + 2 * 4);
  std::map<std::pair<Operation, size_t>, int> counts;
  for (const cluster::GroupTiming& it : *timings) {
    EXPECT_GE(it.timing.seconds, 0);
    ++counts[{it.timing.operation, it.devices.size()}];
  }
  EXPECT_EQ((counts[{Operation::kSendReceive, 2}]), 6 * 4);
  for (const Operation operation :
       {Operation::kAllReduce, Operation::kAllGather, Operation::kReduceScatter,
        Operation::kAllToAll}) {
    EXPECT_EQ((counts[{operation, 2}]), 4);
    EXPECT_EQ((counts[{operation, 4}]), 4);
  }
}

TEST(DeviceTimingTest, OneDeviceHasNoLink) {
  const auto client = MakeClient(1);
  EXPECT_EQ(TimeDevices(*client, {}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace meshwright::worker::detect
