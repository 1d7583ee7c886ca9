#include "coordinator/planning/symbolic_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "coordinator/segmenter/testing/test_steps.h"

namespace meshwright::planning {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

v1::PlanRequest Request(const std::string& model) {
  v1::PlanRequest request;
  request.set_hlo_module(segmenter::ReadSample(model));
  request.mutable_mesh()->add_shape(1);
  request.mutable_mesh()->add_shape(2);
  return request;
}

TEST(SymbolicPlanTest, APlanWithoutADeviceSaysWhatItIs) {
  const auto plan = MakeSymbolicPlan(Request("llama_tiny"));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_TRUE(plan->feasible());
  EXPECT_THAT(plan->notes(), Contains(HasSubstr("nothing was measured")));
  EXPECT_EQ(plan->device(), "symbolic");
  EXPECT_EQ(plan->segments_size(), 4);
  EXPECT_EQ(plan->arguments_size(), 67);
  EXPECT_EQ(plan->programs().profiled(), 0);
  const v1::PlanPrediction& predicted = plan->predicted();
  EXPECT_GT(predicted.compute_seconds(), 0);
  EXPECT_GT(predicted.communication_seconds(), 0);
  EXPECT_GE(predicted.resharding_seconds(), 0);
  EXPECT_GE(predicted.communication_seconds(), predicted.resharding_seconds());
  EXPECT_NEAR(predicted.step_seconds(),
              predicted.compute_seconds() + predicted.communication_seconds(),
              1e-12);
  EXPECT_EQ(predicted.interval_seconds_size(), 0);
  EXPECT_LE(plan->lower_bound_seconds(), plan->predicted().step_seconds());
}

TEST(SymbolicPlanTest, LinksThatAreGivenCount) {
  v1::PlanRequest request = Request("llama_tiny");
  const auto assumed = MakeSymbolicPlan(request);
  request.add_links();
  EXPECT_THAT(std::string(MakeSymbolicPlan(request).status().message()),
              HasSubstr("the mesh has 2 axes, but links are given for 1"));
  request.add_links()->set_beta(1e-13);
  const auto fast = MakeSymbolicPlan(request);
  ASSERT_TRUE(fast.ok()) << fast.status();
  EXPECT_THAT(fast->notes(), Contains(HasSubstr("the links given")));
  request.mutable_links(1)->set_beta(1e-6);
  const auto slow = MakeSymbolicPlan(request);
  ASSERT_TRUE(slow.ok()) << slow.status();
  EXPECT_LT(fast->predicted().step_seconds(),
            assumed->predicted().step_seconds());
  EXPECT_LT(assumed->predicted().step_seconds(),
            slow->predicted().step_seconds());
}

TEST(SymbolicPlanTest, AMemoryLimitIsKeptOrRefusedWithTheLeast) {
  v1::PlanRequest request = Request("gpt2_2l");
  const auto free = MakeSymbolicPlan(request);
  ASSERT_TRUE(free.ok()) << free.status();
  request.set_device_memory_bytes(1000);
  const auto none = MakeSymbolicPlan(request);
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_FALSE(none->feasible());
  EXPECT_GT(none->least_memory_bytes(), 1000);
  request.set_device_memory_bytes(none->least_memory_bytes());
  const auto smallest = MakeSymbolicPlan(request);
  ASSERT_TRUE(smallest.ok()) << smallest.status();
  EXPECT_TRUE(smallest->feasible());
  EXPECT_LE(smallest->predicted().peak_bytes(), none->least_memory_bytes());
  EXPECT_GE(smallest->predicted().step_seconds(),
            free->predicted().step_seconds());
}

TEST(SymbolicPlanTest, BadRequestsAreRefused) {
  v1::PlanRequest request = Request("llama_tiny");
  request.set_device_memory_bytes(-1);
  EXPECT_EQ(MakeSymbolicPlan(request).status().code(),
            absl::StatusCode::kInvalidArgument);
  request = Request("llama_tiny");
  request.mutable_mesh()->set_shape(1, 0);
  EXPECT_EQ(MakeSymbolicPlan(request).status().code(),
            absl::StatusCode::kInvalidArgument);
  request = Request("llama_tiny");
  request.set_hlo_module("no module");
  EXPECT_EQ(MakeSymbolicPlan(request).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace meshwright::planning
