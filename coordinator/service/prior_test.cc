#include "coordinator/service/prior.h"

#include <gtest/gtest.h>

#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/service/fake_measurer.h"
#include "coordinator/service/plan_pipeline.h"
#include "profiledb/store/fake_profile_store.h"

namespace meshwright::service {
namespace {

v1::PlanRequest Request(const std::string& model) {
  v1::PlanRequest request;
  request.set_hlo_module(segmenter::ReadSample(model));
  request.mutable_mesh()->add_shape(1);
  request.mutable_mesh()->add_shape(2);
  request.set_full_space(true);
  return request;
}

void Ignore(const v1::PlanProgress&) {}

TEST(Prior, KeepsTheProgramsAndTheirOrder) {
  std::vector<v1::Program> programs(5);
  std::vector<const v1::Program*> all;
  for (size_t i = 0; i < programs.size(); ++i) {
    programs[i].set_key(std::string(1, static_cast<char>('a' + i)));
    all.push_back(&programs[i]);
  }
  std::string order;
  for (const auto* it : Prior{{"d", "b"}}.First(all)) order += it->key();
  EXPECT_EQ(order, "bdace");
  EXPECT_EQ(Prior{}.First(all), all);
}

// The prior of a step is a whole plan: with its programs in the store and no
// others, --no-wait makes one.
TEST(Prior, AnInterruptedPlanLeavesOneBehind) {
  for (const char* model : {"gpt2_2l", "llama_tiny", "moe_2l"}) {
    store::FakeProfileStore store;
    FakeMeasurer measurer;
    v1::PlanRequest request = Request(model);
    const auto step = OpenStep(request, &measurer);
    ASSERT_TRUE(step.ok()) << step.status();
    const Prior prior = MakePrior(step->analysis, step->space, std::nullopt);
    const int first = static_cast<int>(prior.keys.size());
    ASSERT_GT(first, 0) << model;
    ASSERT_LT(first, static_cast<int>(step->space.programs.size()) / 3);
    measurer.stops_after = first;
    EXPECT_FALSE(MakePlan(request, {&store, &measurer}, Ignore).ok());
    EXPECT_EQ(measurer.programs, first);
    request.set_no_wait(true);
    const auto plan = MakePlan(request, {&store, &measurer}, Ignore);
    ASSERT_TRUE(plan.ok()) << model << ": " << plan.status();
    EXPECT_TRUE(plan->feasible());
    EXPECT_EQ(plan->programs().cached(), first);
  }
}

}  // namespace
}  // namespace meshwright::service
