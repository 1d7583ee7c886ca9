#include "worker/devices/sensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/time/clock.h"
#include "base/shared_library.h"

namespace meshwright::worker::devices {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kLibrary[] =
    MESHWRIGHT_DOUBLES "/nvidia/cu13/lib/libnvidia-ml.so.1";

class SensorsTest : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const char* const name :
         {"CUDA_VISIBLE_DEVICES", "NVML_DOUBLE_OTHERS", "NVML_DOUBLE_HIDES",
          "NVML_DOUBLE_PROCESSES"}) {
      unsetenv(name);
    }
  }
  static absl::StatusOr<std::unique_ptr<Sensors>> See(const char* devices,
                                                      int count = 1) {
    setenv("CUDA_VISIBLE_DEVICES", devices, 1);
    return Sensors::Open(count, kLibrary);
  }
};

TEST_F(SensorsTest, ReadsWhatTheDeviceSays) {
  const auto sensors = Sensors::Open(1, kLibrary);
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

TEST_F(SensorsTest, OfSeveralDevicesTheWorstIsRead) {
  const auto sensors = See("0,1", 2);
  ASSERT_TRUE(sensors.ok()) << sensors.status();
  const v1::DeviceSensors read = (*sensors)->Read();
  EXPECT_EQ(read.sm_clock_mhz(), 1410);
  EXPECT_EQ(read.memory_clock_mhz(), 3201);
  EXPECT_EQ(read.power_watts(), 612);
  EXPECT_EQ(read.power_limit_watts(), 600);
  EXPECT_EQ(read.temperature_celsius(), 75);
  EXPECT_EQ(read.utilization_percent(), 97);
  EXPECT_EQ(read.uncorrected_ecc_errors(), 3);
  EXPECT_THAT(read.throttle_reasons(),
              ElementsAre("heat (hardware)", "power brake", "power cap"));
}

TEST_F(SensorsTest, ACapOfPowerIsHowABusyDeviceRuns) {
  v1::DeviceSensors sensors;
  // What holds the clocks down at all times disturbs no measurement.
  for (const char* const always :
       {"power cap", "sync boost", "display's clock"}) {
    sensors.add_throttle_reasons(always);
  }
  EXPECT_FALSE(IsThrottled(sensors));
  sensors.add_throttle_reasons("power brake");
  EXPECT_TRUE(IsThrottled(sensors));
}

TEST_F(SensorsTest, DescribesTheDeviceAndToleratesAnOlderDriver) {
  const auto sensors = Sensors::Open(1, kLibrary);
  ASSERT_TRUE(sensors.ok());
  v1::DeviceFingerprint fingerprint;
  (*sensors)->Describe(fingerprint);
  EXPECT_EQ(fingerprint.power_limit_watts(), 700);
  EXPECT_FALSE(fingerprint.partitioned());
  EXPECT_EQ(fingerprint.link_class(), "NVLink 4 x2");
  EXPECT_EQ(fingerprint.clock_policy(), "");
  EXPECT_THAT((*sensors)->Uuids(),
              ElementsAre("GPU-00000000-1111-2222-3333-444444444444"));
}

TEST_F(SensorsTest, DevicesThatDifferAreAllDescribed) {
  const auto sensors = See("0,1", 2);
  ASSERT_TRUE(sensors.ok());
  v1::DeviceFingerprint fingerprint;
  (*sensors)->Describe(fingerprint);
  EXPECT_EQ(fingerprint.power_limit_watts(), 600);
  EXPECT_EQ(fingerprint.link_class(), "NVLink 4 x2, PCIe 5 x16");
  EXPECT_EQ(fingerprint.clock_policy(), "SM 1410 MHz");
}

TEST_F(SensorsTest, TheOtherEndsOfLinks) {
  const auto sensors = See("0,1", 2);
  ASSERT_TRUE(sensors.ok());
  const std::vector<LinkEnds> ends = (*sensors)->ReadLinks();
  ASSERT_THAT(ends, ::testing::SizeIs(2));
  EXPECT_EQ(ends[0].place, "0000:1b:00");
  EXPECT_THAT(ends[0].devices, ElementsAre("0000:2a:00"));
  EXPECT_THAT(ends[0].switches, ElementsAre("0000:c1:00"));
  EXPECT_EQ(ends[1].place, "0000:2a:00");
  EXPECT_THAT(ends[1].devices, IsEmpty());
}

TEST_F(SensorsTest, TheVisibleDeviceIsAsked) {
  EXPECT_TRUE(See("GPU-00000000-1111-2222-3333-444444444444,1").ok());
  EXPECT_TRUE(See("0").ok());
  EXPECT_EQ(See("3").status().message(), "NVML: Not Found");
  EXPECT_EQ(See("GPU-5").status().message(), "NVML: Not Found");
  EXPECT_THAT(See("first").status().message(),
              HasSubstr("name devices as nvidia-smi -L does"));
}

TEST_F(SensorsTest, WhatOthersUseIsToldFromItsOwn) {
  const auto both = See("0,1", 2);
  const auto first = See("0", 1);
  EXPECT_EQ((*both)->ReadUseByOthers(absl::Now()), 0);
  setenv("NVML_DOUBLE_OTHERS", "35", 1);
  EXPECT_NEAR((*both)->ReadUseByOthers(absl::Now()).value_or(-1), 0.35, 1e-9);
  EXPECT_EQ((*first)->ReadUseByOthers(absl::Now()), 0)
      << "it is not its device";
  setenv("NVML_DOUBLE_HIDES", "1", 1);
  EXPECT_FALSE((*both)->ReadUseByOthers(absl::Now()).has_value());
}

TEST_F(SensorsTest, EveryDeviceThatIsUsedHasItsName) {
  const std::string first = "GPU-00000000-1111-2222-3333-444444444444";
  const std::string second = "GPU-00000000-1111-2222-3333-555555555555";
  EXPECT_THAT((*See("1,0", 2))->Uuids(), ElementsAre(second, first));
  EXPECT_THAT((*See("1,0", 1))->Uuids(), ElementsAre(second));
  EXPECT_THAT((*See("0", 2))->Uuids(), ElementsAre(first));
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_THAT((*Sensors::Open(2, kLibrary))->Uuids(),
              ElementsAre(first, second));
}

TEST_F(SensorsTest, AnEmptyListHidesAllDevices) {
  for (const char* const none : {"", ","}) {
    for (const int count : {0, 2}) {
      const absl::Status status = See(none, count).status();
      EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
      EXPECT_THAT(status.message(), HasSubstr("no GPU is visible"));
    }
  }
}

// Whether the first device fails, a later one, or none is visible.
TEST_F(SensorsTest, NvmlIsShutDownAsOftenAsItIsInitialized) {
  int (*count)() = nullptr;
  const auto library = base::SharedLibrary::Open(kLibrary, "");
  ASSERT_TRUE(library.ok()) << library.status();
  ASSERT_TRUE(library->Find("nvmlDouble_CountInitialized", &count).ok());
  const int before = count();
  for (const char* const devices : {"3", "0,3", "first", ""}) {
    EXPECT_FALSE(See(devices, 2).ok()) << devices;
    EXPECT_EQ(count(), before) << devices;
  }
  {
    const auto sensors = See("0,1", 2);
    ASSERT_TRUE(sensors.ok()) << sensors.status();
    EXPECT_EQ(count(), before + 1);
  }
  EXPECT_EQ(count(), before);
}

TEST_F(SensorsTest, WithoutTheLibraryTheWayOutIsNamed) {
  EXPECT_THAT(Sensors::Open(1, "libnvidia-ml-none.so").status().message(),
              HasSubstr("it comes with the NVIDIA driver"));
}

TEST_F(SensorsTest, ChosenClocksAreNoThrottling) {
  EXPECT_THAT(NameThrottleReasons(0x1 | 0x2), IsEmpty());
}

TEST_F(SensorsTest, ProcessesOfAllItsDevices) {
  const auto sensors = Sensors::Open(0, kLibrary);
  ASSERT_TRUE(sensors.ok()) << sensors.status();
  EXPECT_THAT((*sensors)->Uuids(), ::testing::SizeIs(2));
  EXPECT_THAT((*sensors)->ListProcesses(),
              ::testing::UnorderedElementsAre(1, getpid()));
  const std::string path = ::testing::TempDir() + "/processes";
  setenv("NVML_DOUBLE_PROCESSES", path.c_str(), 1);
  std::ofstream(path) << "4711 4712\n";
  EXPECT_THAT((*sensors)->ListProcesses(), ElementsAre(4711, 4712));
  std::ofstream(path, std::ios::trunc).flush();
  EXPECT_THAT((*sensors)->ListProcesses(), IsEmpty());
}

}  // namespace
}  // namespace meshwright::worker::devices
