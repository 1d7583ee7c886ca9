#include "worker/devices/device_users.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace meshwright::worker::devices {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

struct MadeUpGpu {
  std::vector<pid_t> listed;
  ProcessFamily family = {{10}, {}};

  std::string Find(bool knows_numbers = true) {
    return GpuUsers([this] { return listed; }, [this] { return family; },
                    knows_numbers)
        .Find();
  }
};

TEST(DeviceUsersTest, AGpuIsUsedByAProcessThatIsNoneOfOurs) {
  MadeUpGpu gpu;
  EXPECT_EQ(gpu.Find(), "");
  gpu.family.members = {10, 11};
  gpu.listed = {11};
  EXPECT_EQ(gpu.Find(), "");
  gpu.listed = {11, 99999999};
  EXPECT_EQ(gpu.Find(), "process 99999999");
}

TEST(DeviceUsersTest, WithOtherNumbersTheListCountsWithoutARunner) {
  MadeUpGpu gpu;
  gpu.listed = {10};  // another's, whose number is that of ours here
  EXPECT_THAT(gpu.Find(/*knows_numbers=*/false), HasSubstr("host"));
  gpu.family.members = {10, 11};
  gpu.listed = {4711};
  EXPECT_EQ(gpu.Find(/*knows_numbers=*/false), "");
}

TEST(DeviceUsersTest, ARunnerThatEndsWhileItsFamilyIsReadIsNobody) {
  for (const bool knows_numbers : {true, false}) {
    for (const bool is_joined : {false, true}) {
      std::vector<pid_t> listed = {11};  // the runner
      if (is_joined) listed.push_back(99999999);
      GpuUsers users([&] { return listed; },
                     [&] {
                       std::erase(listed, 11);
                       return ProcessFamily{{10}, {}};
                     },
                     knows_numbers);
      const std::string found = users.Find();
      EXPECT_EQ(found.empty(), !is_joined) << found;
      if (!is_joined) continue;
      EXPECT_EQ(found,
                knows_numbers ? "process 99999999" : "a process of the host");
    }
  }
}

TEST(DeviceUsersTest, ProcessorsAreUsedWhereOthersKeepThemBusy) {
  LoadWatch::Reading reading;
  ProcessorUsers users([&] { return reading; }, 4);
  const auto step = [&](double busy, double own) {
    reading.time += absl::Seconds(1);
    reading.busy += absl::Seconds(busy);
    reading.own += absl::Seconds(own);
    return users.Find();
  };
  EXPECT_EQ(step(4, 0), "");  // the first: since when?
  EXPECT_EQ(step(3.9, 3.5), "");
  EXPECT_THAT(step(3.5, 1.5), HasSubstr("50 %"));
  EXPECT_EQ(step(0.5, 0), "");
}

TEST(DeviceUsersTest, OfThisMachinesProcessors) {
  v1::DeviceSpec devices;
  devices.set_platform("cpu");
  const auto users = OpenDeviceUsers(devices);
  ASSERT_TRUE(users.ok()) << users.status();
  EXPECT_EQ((*users)->Find(), "");  // the first
}

// One GPU of this machine stands for a mesh of four.
TEST(DeviceUsersTest, OfTheOneGpuThatStandsForAMesh) {
  unsetenv("CUDA_VISIBLE_DEVICES");
  const std::string two_gpus =
      MESHWRIGHT_DOUBLES "/nvidia/cu13/lib/libnvidia-ml.so.1";
  v1::DeviceSpec devices;
  devices.set_platform("cuda");
  devices.set_device_count(4);
  EXPECT_EQ(CountOwnDevices(devices), 4);
  EXPECT_FALSE(OpenDeviceUsers(devices, two_gpus).ok());
  devices.set_solo(true);
  EXPECT_EQ(CountOwnDevices(devices), 1);
  const auto users = OpenDeviceUsers(devices, two_gpus);
  EXPECT_TRUE(users.ok()) << users.status();
}

TEST(DeviceUsersTest, NumbersAreTheHostsInTheFirstNamespaceAlone) {
  const fs::path root = fs::path(testing::TempDir()) / "numbers";
  fs::remove_all(root);
  fs::create_directories(root / "proc/self/ns");
  EXPECT_FALSE(HasNumbersOfHost(root));
  fs::create_symlink("pid:[4026531836]", root / "proc/self/ns/pid");
  EXPECT_TRUE(HasNumbersOfHost(root));
  fs::remove(root / "proc/self/ns/pid");
  fs::create_symlink("pid:[4026532758]", root / "proc/self/ns/pid");
  EXPECT_FALSE(HasNumbersOfHost(root));
}

}  // namespace
}  // namespace meshwright::worker::devices
