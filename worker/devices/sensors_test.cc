#include "worker/devices/sensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace meshwright::worker::devices {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kLibrary[] =
    MESHWRIGHT_DOUBLES "/nvidia/cu13/lib/libnvidia-ml.so.1";

class SensorsTest : public ::testing::Test {
 protected:
  void TearDown() override { unsetenv("CUDA_VISIBLE_DEVICES"); }
  static absl::StatusOr<std::unique_ptr<Sensors>> See(const char* devices) {
    setenv("CUDA_VISIBLE_DEVICES", devices, 1);
    return Sensors::Open(kLibrary);
  }
};

TEST_F(SensorsTest, ReadsWhatTheDeviceSays) {
  const auto sensors = Sensors::Open(kLibrary);
  ASSERT_TRUE(sensors.ok()) << sensors.status();
  const v1::DeviceSensors read = (*sensors)->Read();
  EXPECT_EQ(read.sm_clock_mhz(), 1980);
  EXPECT_EQ(read.memory_clock_mhz(), 3201);
  EXPECT_EQ(read.power_watts(), 612);
  EXPECT_EQ(read.power_limit_watts(), 700);
  EXPECT_EQ(read.temperature_celsius(), 61);
  EXPECT_THAT(read.throttle_reasons(),
              ElementsAre("power cap", "heat (hardware)"));
  EXPECT_EQ(read.uncorrected_ecc_errors(), 2);
  EXPECT_EQ(read.utilization_percent(), 97);
}

TEST_F(SensorsTest, DescribesTheDeviceAndToleratesAnOlderDriver) {
  const auto sensors = Sensors::Open(kLibrary);
  ASSERT_TRUE(sensors.ok());
  v1::DeviceFingerprint fingerprint;
  (*sensors)->Describe(fingerprint);
  EXPECT_EQ(fingerprint.power_limit_watts(), 700);
  EXPECT_FALSE(fingerprint.partitioned());
  EXPECT_EQ((*sensors)->Uuid(), "GPU-00000000-1111-2222-3333-444444444444");
}

TEST_F(SensorsTest, TheVisibleDeviceIsAsked) {
  EXPECT_TRUE(See("GPU-00000000-1111-2222-3333-444444444444,1").ok());
  EXPECT_TRUE(See("0").ok());
  EXPECT_EQ(See("3").status().message(), "NVML: Not Found");
  EXPECT_EQ(See("GPU-5").status().message(), "NVML: Not Found");
  EXPECT_THAT(See("first").status().message(),
              HasSubstr("name devices as nvidia-smi -L does"));
}

TEST_F(SensorsTest, WithoutTheLibraryTheWayOutIsNamed) {
  EXPECT_THAT(Sensors::Open("libnvidia-ml-none.so").status().message(),
              HasSubstr("it comes with the NVIDIA driver"));
}

TEST_F(SensorsTest, ChosenClocksAreNoThrottling) {
  EXPECT_THAT(NameThrottleReasons(0x1 | 0x2), IsEmpty());
}

}  // namespace
}  // namespace meshwright::worker::devices
