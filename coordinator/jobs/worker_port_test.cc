#include "coordinator/jobs/worker_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

namespace meshwright::jobs {
namespace {

WorkerDescription MakeWorker() {
  WorkerDescription worker;
  worker.name = "rack-3";
  worker.plugin_path = "/opt/plugin.so";
  worker.devices.platform = "cuda";
  worker.devices.platform_version = "12.4";
  worker.devices.device_kind = "H200";
  worker.devices.device_count = 4;
  worker.devices.fingerprint.set_memory_gib(140);
  return worker;
}

v1::DeviceSpec MakeWanted() {
  v1::DeviceSpec device;
  device.set_platform("cuda");
  device.set_device_count(4);
  return device;
}

TEST(CanRunTest, AWorkerRunsWhatItsDevicesAreMadeFor) {
  const WorkerDescription worker = MakeWorker();
  EXPECT_TRUE(CanRun(worker, MakeWanted(), nullptr).ok());
  EXPECT_TRUE(CanRun(worker, MakeWanted(), &worker.devices).ok());
}

TEST(CanRunTest, EachOtherRequestIsRefusedByWhatTheWorkerHas) {
  const std::pair<std::function<void(v1::DeviceSpec&)>, std::string> cases[] = {
      {[](auto& it) { it.set_platform(""); }, "has cuda devices"},
      {[](auto& it) { it.set_device_count(5); }, "has 4 cuda devices"},
      {[](auto& it) { it.set_plugin_path("/other.so"); },
       "runs /opt/plugin.so"},
      {[](auto& it) { it.set_solo(true); }, "was started without --solo"},
  };
  for (const auto& [change, reason] : cases) {
    v1::DeviceSpec wanted = MakeWanted();
    change(wanted);
    const absl::Status status = CanRun(MakeWorker(), wanted, nullptr);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr(reason));
  }
}

TEST(CanRunTest, ADeviceThatStandsForAMeshRunsNothingElse) {
  WorkerDescription worker = MakeWorker();
  worker.devices.fingerprint.set_solo(true);
  EXPECT_THAT(std::string(CanRun(worker, MakeWanted(), nullptr).message()),
              testing::HasSubstr("has one device that stands for a mesh"));
  v1::DeviceSpec solo = MakeWanted();
  solo.set_solo(true);
  EXPECT_TRUE(CanRun(worker, solo, nullptr).ok());
}

// The rows of one plan are of equal devices.
TEST(CanRunTest, EachOtherDeviceIsRefused) {
  const std::function<void(DeviceDescription&)> changes[] = {
      [](auto& it) { it.platform_version = "12.5"; },
      [](auto& it) { it.device_kind = "H100"; },
      [](auto& it) { it.fingerprint.set_memory_gib(80); },
  };
  for (const auto& change : changes) {
    DeviceDescription plans = MakeWorker().devices;
    change(plans);
    const absl::Status status = CanRun(MakeWorker(), MakeWanted(), &plans);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(status.message()),
                testing::HasSubstr("rack-3 has other devices than the plan's"));
  }
}

// As where a worker of --devices 4 opened all 8 before.
TEST(CanRunTest, AnotherNumberOfDevicesOnTheHostIsNamed) {
  WorkerDescription worker = MakeWorker();
  worker.devices.fingerprint.set_devices_per_host(4);
  DeviceDescription plans = worker.devices;
  plans.fingerprint.set_devices_per_host(8);
  const absl::Status status = CanRun(worker, MakeWanted(), &plans);
  EXPECT_THAT(std::string(status.message()),
              testing::HasSubstr("4 of them on its host and not 8"));
}

}  // namespace
}  // namespace meshwright::jobs
