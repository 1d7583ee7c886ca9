#include "coordinator/planning/plan_metadata.h"

#include <gtest/gtest.h>

#include <string>

#include "base/fingerprint.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/segmenter/testing/test_steps.h"

namespace meshwright::planning {
namespace {

v1::PlanRequest RequestOf(const std::string& hlo_module) {
  v1::PlanRequest request;
  request.set_hlo_module(hlo_module);
  request.set_model_name("step");
  return request;
}

TEST(PlanMetadataTest, TwoExportsOfAStepAreOneModel) {
  hlo::HloModuleProto module =
      *ir::ParseModule(segmenter::ReadSample("llama_tiny"));
  const std::string first = module.SerializeAsString();
  module.set_id(module.id() + 1);
  const std::string second = module.SerializeAsString();
  const v1::PlanModel a = BeginPlan(RequestOf(first), {1, 2}).model();
  v1::PlanModel b = BeginPlan(RequestOf(second), {1, 2}).model();
  EXPECT_EQ(a.name(), "step");
  EXPECT_EQ(a.fingerprint(), b.fingerprint());
  EXPECT_EQ(GetModuleKey(a), base::Sha256Hex(first));
  EXPECT_EQ(GetModuleKey(b), base::Sha256Hex(second));
  EXPECT_TRUE(IsSameModel(a, b));
  b.set_fingerprint("other");
  EXPECT_FALSE(IsSameModel(a, b));
}

// Its fingerprint is the key of its bytes.
TEST(PlanMetadataTest, AnEarlierPlanIsOfTheModelWithItsBytes) {
  v1::PlanModel earlier;
  earlier.set_fingerprint(base::Sha256Hex("bytes"));
  EXPECT_EQ(GetModuleKey(earlier), base::Sha256Hex("bytes"));
  EXPECT_TRUE(IsSameModel(earlier, DescribeModel("bytes")));
  EXPECT_FALSE(IsSameModel(earlier, DescribeModel("other bytes")));
}

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
