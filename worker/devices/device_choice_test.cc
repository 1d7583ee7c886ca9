#include "worker/devices/device_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace meshwright::worker::devices {
namespace {

using ::testing::HasSubstr;
using ::testing::StrEq;

// Of two devices.
constexpr char kNvmlDouble[] =
    MESHWRIGHT_DOUBLES "/nvidia/cu13/lib/libnvidia-ml.so.1";

class DeviceChoiceTest : public testing::Test {
 protected:
  void SetUp() override { Clear(); }
  void TearDown() override { Clear(); }
  static void Clear() {
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("CUDA_DEVICE_ORDER");
    unsetenv("MESHWRIGHT_DEVICES_PER_HOST");
  }
  absl::Status Choose(const std::string& platform, const std::string& text) {
    devices_.set_platform(platform);
    return ChooseDevices(text, devices_);
  }
  v1::DeviceSpec devices_;
};

TEST_F(DeviceChoiceTest, NothingIsEightOfACpuAndAllOfAGpu) {
  ASSERT_TRUE(Choose("cpu", "").ok());
  EXPECT_EQ(devices_.device_count(), 8);
  EXPECT_EQ(std::getenv("CUDA_DEVICE_ORDER"), nullptr);
  ASSERT_TRUE(Choose("cuda", "").ok());
  EXPECT_EQ(devices_.device_count(), 0);
  EXPECT_THAT(std::getenv("CUDA_DEVICE_ORDER"), StrEq("PCI_BUS_ID"));
}

TEST_F(DeviceChoiceTest, ANumberIsHowMany) {
  ASSERT_TRUE(Choose("cpu", "4").ok());
  EXPECT_EQ(devices_.device_count(), 4);
  EXPECT_EQ(std::getenv("CUDA_VISIBLE_DEVICES"), nullptr);
  ASSERT_TRUE(Choose("cuda", "4").ok());
  EXPECT_EQ(devices_.device_count(), 4);
  EXPECT_THAT(std::getenv("CUDA_VISIBLE_DEVICES"), StrEq("0,1,2,3"));
}

TEST_F(DeviceChoiceTest, ANumberTakesTheFirstThatAreVisible) {
  setenv("CUDA_VISIBLE_DEVICES", "3,GPU-4c5f,1", 1);
  ASSERT_TRUE(Choose("cuda", "2").ok());
  EXPECT_EQ(devices_.device_count(), 2);
  EXPECT_THAT(std::getenv("CUDA_VISIBLE_DEVICES"), StrEq("3,GPU-4c5f"));
  // Too few are an error of the plugin's client.
  ASSERT_TRUE(Choose("cuda", "4").ok());
  EXPECT_EQ(devices_.device_count(), 4);
  EXPECT_THAT(std::getenv("CUDA_VISIBLE_DEVICES"), StrEq("3,GPU-4c5f"));
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  ASSERT_TRUE(Choose("cuda", "1").ok());
  EXPECT_THAT(std::getenv("CUDA_VISIBLE_DEVICES"), StrEq(""));
}

TEST_F(DeviceChoiceTest, ANumberIsTheMeshThatOneDeviceStandsFor) {
  devices_.set_solo(true);
  ASSERT_TRUE(Choose("cuda", "4").ok());
  EXPECT_EQ(devices_.device_count(), 4);
  EXPECT_EQ(std::getenv("CUDA_VISIBLE_DEVICES"), nullptr);
}

TEST_F(DeviceChoiceTest, AMeshShowsItsOwnDevicesAndTheHostKeepsItsNumber) {
  ShowDevicesOfMesh(2, kNvmlDouble);
  EXPECT_EQ(std::getenv("CUDA_VISIBLE_DEVICES"), nullptr);
  EXPECT_EQ(CountDevicesOfHost(2), 2);
  ShowDevicesOfMesh(1, kNvmlDouble);
  EXPECT_THAT(std::getenv("CUDA_VISIBLE_DEVICES"), StrEq("0"));
  EXPECT_EQ(CountDevicesOfHost(1), 2);
  // The next mesh of the same command.
  ShowDevicesOfMesh(1, kNvmlDouble);
  EXPECT_THAT(std::getenv("CUDA_VISIBLE_DEVICES"), StrEq("0"));
  EXPECT_EQ(CountDevicesOfHost(1), 2);
}

TEST_F(DeviceChoiceTest, AMeshTakesTheFirstThatAreVisible) {
  setenv("CUDA_VISIBLE_DEVICES", "1,0", 1);
  ShowDevicesOfMesh(1, kNvmlDouble);
  EXPECT_THAT(std::getenv("CUDA_VISIBLE_DEVICES"), StrEq("1"));
  EXPECT_EQ(CountDevicesOfHost(1), 2);
}

TEST_F(DeviceChoiceTest, WithoutNvmlAMeshHidesNothing) {
  ShowDevicesOfMesh(1, "/nowhere/libnvidia-ml.so.1");
  EXPECT_EQ(std::getenv("CUDA_VISIBLE_DEVICES"), nullptr);
  EXPECT_EQ(CountDevicesOfHost(8), 8);
}

TEST_F(DeviceChoiceTest, NamesAreWhich) {
  ASSERT_TRUE(Choose("cuda", "0,2").ok());
  EXPECT_EQ(devices_.device_count(), 2);
  EXPECT_THAT(std::getenv("CUDA_VISIBLE_DEVICES"), StrEq("0,2"));
  ASSERT_TRUE(Choose("cuda", "2,").ok());
  EXPECT_EQ(devices_.device_count(), 1);
  EXPECT_THAT(std::getenv("CUDA_VISIBLE_DEVICES"), StrEq("2"));
  ASSERT_TRUE(Choose("cuda", "GPU-4c5f").ok());
  EXPECT_THAT(std::getenv("CUDA_VISIBLE_DEVICES"), StrEq("GPU-4c5f"));
}

TEST_F(DeviceChoiceTest, WhatIsNoDeviceIsRefused) {
  EXPECT_THAT(Choose("cuda", "0,two").message(),
              HasSubstr("names two, which is neither"));
  EXPECT_THAT(Choose("cuda", "1,1").message(), HasSubstr("device 1 twice"));
  EXPECT_THAT(Choose("cuda", ",").message(), HasSubstr("names no device"));
  EXPECT_THAT(Choose("cpu", "0,1").message(), HasSubstr("have no names"));
  EXPECT_THAT(Choose("cpu", "0").message(), HasSubstr("has 1 to 4096"));
  EXPECT_THAT(Choose("cuda", "0").message(), HasSubstr("GPU 0 alone is 0,"));
}

}  // namespace
}  // namespace meshwright::worker::devices
