#include "coordinator/planning/measure_choices.h"

#include <gtest/gtest.h>

#include "coordinator/export/baselines.h"
#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/planning/score.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "profiledb/store/testing/fake_profile_store.h"

namespace meshwright::planning {
namespace {

TEST(MeasureChoicesTest, WhatPlansOfOthersNeedIsMeasuredOnce) {
  store::FakeProfileStore store;
  jobs::FakeMeasurer measurer;
  measurer.machine = 3;
  const PlanDependencies dependencies = {&store, &measurer};
  const auto quiet = [](const v1::PlanProgress&) {};
  v1::PlanRequest request;
  request.set_hlo_module(segmenter::ReadSample("llama_2l"));
  for (int64_t size : {1, 2}) request.mutable_mesh()->add_shape(size);
  auto step = MeasureStep(request, dependencies, quiet);
  ASSERT_TRUE(step.ok()) << step.status();

  std::vector<space::SegmentChoice> choices;
  for (const auto& it :
       exporting::MakeOpLevelBaselines(step->analysis, step->space)) {
    choices.push_back(it.choice);
  }
  EXPECT_EQ(choices.size(), 2u);
  // One more that pruning left out: the last configuration of every type.
  space::SegmentChoice last;
  for (segmenter::SegmentTypeId type : step->analysis.type_of_segment) {
    last.push_back(
        static_cast<int>(step->space.types[type].configurations.size()) - 1);
  }
  exporting::MakeConsistent(step->analysis, step->space, last);
  ASSERT_FALSE(ScoreChoice(*step, last).ok());
  choices.push_back(last);

  v1::DeviceSpec device;
  device.set_platform("cpu");
  device.set_device_count(2);
  ASSERT_TRUE(MeasureChoices(device, dependencies, quiet, choices, *step).ok());
  for (const auto& choice : choices) {
    EXPECT_TRUE(ScoreChoice(*step, choice).ok());
  }
  const int measured = measurer.programs;
  ASSERT_TRUE(MeasureChoices(device, dependencies, quiet, choices, *step).ok());
  EXPECT_EQ(measurer.programs, measured);
}

}  // namespace
}  // namespace meshwright::planning
