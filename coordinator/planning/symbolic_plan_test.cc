#include "coordinator/planning/symbolic_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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

// By the names that the launcher gave, else by those of instructions.
TEST(SymbolicPlanTest, TheValuesOfBlocksAreNamedWithTheirShardings) {
  v1::PlanRequest request = Request("llama_tiny");
  request.set_hlo_module(R"(
HloModule two, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }
add {
  left = f32[] parameter(0)
  right = f32[] parameter(1)
  ROOT sum = f32[] add(left, right)
}
ENTRY main {
  a = f32[16,64] parameter(0)
  b = f32[64,16] parameter(1)
  x = f32[8,16] parameter(2)
  y = f32[8,64] dot(x, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="step/up"}
  t = f32[8,64] tanh(y)
  z = f32[8,16] dot(t, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  zero = f32[] constant(0)
  squares = f32[8,16] multiply(z, z)
  loss = f32[] reduce(squares, zero), dimensions={0,1}, to_apply=add
  d_b = f32[64,16] dot(t, z), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  d_t = f32[8,64] dot(z, b), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  d_y = f32[8,64] multiply(d_t, t)
  d_a = f32[16,64] dot(x, d_y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  new_a = f32[16,64] subtract(a, d_a)
  new_b = f32[64,16] subtract(b, d_b)
  ROOT out = (f32[16,64], f32[64,16], f32[]) tuple(new_a, new_b, loss)
}
)");
  for (const auto& [block, strategy] :
       {std::pair{"0", "columns"}, std::pair{"1", "contraction"}}) {
    v1::BlockRule& rule = *request.mutable_strategies()->add_blocks();
    rule.set_blocks(block);
    rule.add_strategies(strategy);
  }
  const auto plan = MakeSymbolicPlan(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::vector<std::string> found;
  for (const v1::PlanActivation& it : plan->activations()) {
    found.push_back(absl::StrCat(
        it.op_name(), " ", absl::StrJoin(it.shape(), "x"), " ", it.sharding()));
  }
  EXPECT_THAT(found,
              testing::ElementsAre("step/up 8x64 [-,1]", "z 8x16 [-,-]"));
}

// A layer's blocks, and what it hands to the next one.
TEST(SymbolicPlanTest, TheValuesAtBoundariesAreNamed) {
  const auto two = MakeBaselinePlan(Request("llama_2l"), "tp");
  const auto four = MakeBaselinePlan(Request("llama_4l"), "tp");
  ASSERT_TRUE(two.ok() && four.ok());
  EXPECT_GT(two->activations_size(), 2 * 4);
  EXPECT_GT(four->activations_size(), two->activations_size());
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
