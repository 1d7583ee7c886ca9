#include "coordinator/explain/what_if.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/planning/choose_plan.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "profiledb/store/testing/fake_profile_store.h"

namespace meshwright::explain {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class WhatIfTest : public testing::Test {
 protected:
  WhatIfTest() { measurer_.machine = 6; }

  static v1::PlanRequest Request(std::vector<int64_t> mesh) {
    v1::PlanRequest request;
    request.set_hlo_module(segmenter::ReadSample("gpt2_2l"));
    for (int64_t size : mesh) request.mutable_mesh()->add_shape(size);
    return request;
  }

  planning::MeasuredStep Known(std::vector<int64_t> mesh = {1, 2}) {
    auto step =
        planning::MeasureStep(Request(std::move(mesh)), {&store_, &measurer_},
                              [](const v1::PlanProgress&) {});
    EXPECT_TRUE(step.ok()) << step.status();
    return *std::move(step);
  }

  absl::StatusOr<v1::Plan> Ask(const planning::MeasuredStep& known,
                               const v1::PlanRequest& request,
                               std::optional<base::Links> links = {}) {
    const int measured = measurer_.programs;
    const auto step = EstimateStep(known, request, links, &store_);
    EXPECT_EQ(measurer_.programs, measured);
    if (!step.ok()) return step.status();
    return planning::ChoosePlan(request, *step);
  }

  void ExpectRefused(const planning::MeasuredStep& known,
                     std::vector<int64_t> mesh, const std::string& words) {
    const auto plan = Ask(known, Request(std::move(mesh)));
    EXPECT_EQ(plan.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(plan.status().message()), HasSubstr(words));
    EXPECT_THAT(std::string(plan.status().message()),
                HasSubstr("meshwright plan --mesh"));
  }

  store::FakeProfileStore store_;
  jobs::FakeMeasurer measurer_;
};

TEST_F(WhatIfTest, AnotherMeshIsEstimatedAndSaysSo) {
  const planning::MeasuredStep known = Known();
  const auto plan = Ask(known, Request({1, 4}));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_TRUE(plan->feasible());
  EXPECT_EQ(plan->programs().cached(), 0);
  EXPECT_GT(plan->programs().estimated(), 20);
  EXPECT_THAT(plan->notes(), Contains(HasSubstr("are estimated")));
  int estimated = 0;
  for (const v1::PlanSegment& it : plan->segments()) {
    estimated += it.estimated();
  }
  EXPECT_EQ(estimated, plan->segments_size());
  const v1::PlanPrediction& predicted = plan->predicted();
  EXPECT_GT(predicted.step_seconds() - predicted.interval_seconds(0),
            0.05 * predicted.step_seconds());
  // A device of four does less than one of two.
  const auto before = planning::ChoosePlan(Request({1, 2}), known);
  EXPECT_LT(predicted.compute_seconds(),
            0.8 * before->predicted().compute_seconds());
  EXPECT_LT(predicted.peak_bytes(), before->predicted().peak_bytes());
}

TEST_F(WhatIfTest, WhatWasMeasuredOnTheOtherMeshCounts) {
  const planning::MeasuredStep known = Known();
  const planning::MeasuredStep other = Known({1, 4});
  const auto plan = Ask(known, Request({1, 4}));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_GT(plan->programs().cached(), 20);
  for (const v1::PlanSegment& it : plan->segments()) {
    if (it.estimated()) continue;
    const auto& configuration =
        other.space.types[it.type()].configurations[it.config()];
    EXPECT_EQ(configuration.describe, it.describe());
  }
  const auto answer = planning::ChoosePlan(Request({1, 4}), other);
  EXPECT_LE(plan->predicted().step_seconds(),
            answer->predicted().step_seconds());
}

TEST_F(WhatIfTest, OtherLinksChangeCommunicationAlone) {
  const planning::MeasuredStep known = Known();
  const auto before = planning::ChoosePlan(Request({1, 2}), known);
  const auto free = Ask(known, Request({1, 2}), base::Links{{0, 0}, {0, 0}});
  ASSERT_TRUE(free.ok()) << free.status();
  EXPECT_DOUBLE_EQ(free->predicted().communication_seconds(),
                   free->predicted().resharding_seconds());
  EXPECT_LT(free->predicted().step_seconds(),
            before->predicted().step_seconds());
  const auto slow =
      Ask(known, Request({1, 2}), base::Links{{0, 0}, {1e-3, 1e-6}});
  ASSERT_TRUE(slow.ok()) << slow.status();
  EXPECT_GT(slow->predicted().step_seconds(),
            before->predicted().step_seconds());
  EXPECT_GT(slow->programs().estimated(), 0);
  EXPECT_GT(slow->programs().cached(), 0);  // what does not communicate
  EXPECT_THAT(slow->notes(), Contains(HasSubstr("link table")));
}

TEST_F(WhatIfTest, AMemoryLimitHoldsOnTheOtherMeshToo) {
  const planning::MeasuredStep known = Known();
  v1::PlanRequest request = Request({1, 4});
  const auto fastest = Ask(known, request);
  request.set_device_memory_bytes(1000);
  const auto none = Ask(known, request);
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_FALSE(none->feasible());
  request.set_device_memory_bytes(none->least_memory_bytes());
  const auto smallest = Ask(known, request);
  ASSERT_TRUE(smallest.ok()) << smallest.status();
  EXPECT_LE(smallest->predicted().peak_bytes(), none->least_memory_bytes());
  EXPECT_GE(smallest->predicted().step_seconds(),
            fastest->predicted().step_seconds());
}

TEST_F(WhatIfTest, WhatNothingTellsIsRefusedWithTheWayOut) {
  const planning::MeasuredStep known = Known();
  ExpectRefused(known, {2, 2},
                "axis 0 has one device on the measured mesh 1x2");
  ExpectRefused(known, {4}, "has 2 axes and 4 has 1");
  ExpectRefused(known, {1, 7}, "on 1x7");
}

}  // namespace
}  // namespace meshwright::explain
