#include "coordinator/planning/plan_metadata.h"

#include <gtest/gtest.h>

namespace meshwright::planning {
namespace {

// A request that does not name them is for CPU devices.
TEST(PlanMetadataTest, TheRequestOfAPlanNamesThePlatformOfItsDevices) {
  jobs::DeviceDescription device;
  v1::Plan plan;
  EXPECT_EQ(RestoreRequest(plan, "hlo").platform(), "");
  device.platform = "cuda";
  device.device_kind = "NVIDIA H100 80GB HBM3";
  SetDevice(device, plan);
  EXPECT_EQ(RestoreRequest(plan, "hlo").platform(), "cuda");
  device.platform = device.device_kind = "cpu";
  SetDevice(device, plan);
  EXPECT_EQ(RestoreRequest(plan, "hlo").platform(), "cpu");
}

}  // namespace
}  // namespace meshwright::planning
