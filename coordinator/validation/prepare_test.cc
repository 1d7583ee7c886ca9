#include "coordinator/validation/prepare.h"

#include <gtest/gtest.h>

#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "profiledb/store/testing/fake_profile_store.h"

namespace meshwright::validation {
namespace {

const auto kQuiet = [](const v1::PlanProgress&) {};

class PrepareTest : public testing::Test {
 protected:
  PrepareTest() {
    measurer_.machine = 3;
    v1::PlanRequest request;
    request.set_hlo_module(segmenter::ReadSample("llama_2l"));
    for (int64_t size : {1, 2}) request.mutable_mesh()->add_shape(size);
    auto plan = planning::MakePlan(request, {&store_, &measurer_}, kQuiet);
    EXPECT_TRUE(plan.ok()) << plan.status();
    request_.plan = *std::move(plan);
    request_.hlo_module = request.hlo_module();
    request_.random_plans = 2;
    request_.device.set_platform("cpu");
  }

  Validation Prepare(store::ProfileStore& store) {
    auto validation = PrepareValidation(request_, &store, &measurer_, kQuiet);
    EXPECT_TRUE(validation.ok()) << validation.status();
    return *std::move(validation);
  }

  store::FakeProfileStore store_;
  jobs::FakeMeasurer measurer_;
  ValidationRequest request_;
};

TEST_F(PrepareTest, TheChosenPlanIsPredictedByItsFile) {
  request_.plan.mutable_predicted()->set_step_seconds(12.5);
  request_.plan.mutable_predicted()->set_peak_bytes(77);
  const Validation validation = Prepare(store_);
  const ValidationPlan& chosen = validation.plans.front();
  EXPECT_EQ(chosen.name, "chosen");
  EXPECT_TRUE(chosen.predicted && chosen.planned);
  EXPECT_EQ(chosen.predicted_seconds, 12.5);
  EXPECT_EQ(chosen.predicted_peak_bytes, 77);
  ASSERT_FALSE(validation.baselines.empty());
  EXPECT_EQ(validation.plans[validation.baselines.front()].name, "dp");
}

TEST_F(PrepareTest, WhatTheStoreHadIsPlanned) {
  const Validation validation = Prepare(store_);
  for (const ValidationPlan& it : validation.plans) {
    if (it.name == "dp" || it.name == "tp") {
      EXPECT_TRUE(it.predicted && it.planned) << it.name;
    }
  }
}

TEST_F(PrepareTest, WholeStepsAreCompiledWithThePlansFlags) {
  const std::string flags = "--xla_cpu_enable_fast_math=true";
  request_.plan.set_xla_flags(flags);
  EXPECT_EQ(Prepare(store_).request.options().xla_flags(), flags);
}

// Another store: rows that only the validation measured are no plan.
TEST_F(PrepareTest, WhatFillsGapsIsNotPlanned) {
  store::FakeProfileStore empty;
  const Validation validation = Prepare(empty);
  EXPECT_TRUE(validation.plans.front().planned);
  for (size_t i = 1; i < validation.plans.size(); ++i) {
    EXPECT_TRUE(validation.plans[i].predicted) << validation.plans[i].name;
    EXPECT_FALSE(validation.plans[i].planned) << validation.plans[i].name;
  }
}

}  // namespace
}  // namespace meshwright::validation
