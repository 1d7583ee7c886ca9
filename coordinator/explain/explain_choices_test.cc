#include "coordinator/explain/explain_choices.h"

#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "coordinator/explain/testing/fastest_plan.h"
#include "coordinator/export/plan_choice.h"
#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/jobs/testing/large_head.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/planning/score.h"
#include "coordinator/problem/memory_limit.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "profiledb/store/testing/fake_profile_store.h"

namespace meshwright::explain {
namespace {

class ExplainChoicesTest : public testing::Test {
 protected:
  // The step of a model, and the fastest plan of it.
  void Make(const std::string& model, int64_t limit = 0) {
    auto fastest = PlanSample(model, limit, &store_);
    ASSERT_TRUE(fastest.ok()) << fastest.status();
    step_ = std::move(fastest->step);
    choice_ = std::move(fastest->choice);
    fastest_ = std::move(fastest->plan);
  }

  v1::PlanExplanation Explain() {
    auto explanation = ExplainChoices(step_, choice_, {});
    EXPECT_TRUE(explanation.ok()) << explanation.status();
    return *std::move(explanation);
  }

  void ExpectSound(const v1::PlanExplanation& explanation) {
    const auto own = planning::ScoreChoice(step_, choice_);
    std::set<int> segments;
    for (const v1::PlanChoice& choice : explanation.choices()) {
      for (int s : choice.segments()) {
        EXPECT_EQ(choice_[s], choice.config());
        EXPECT_TRUE(segments.insert(s).second);
      }
      if (!choice.has_next_best()) continue;
      const v1::PlanAlternative& next = choice.next_best();
      EXPECT_GE(next.more_seconds(), 0);
      EXPECT_NEAR(next.step_seconds(), own->seconds + next.more_seconds(),
                  1e-12);
      EXPECT_NEAR(next.compute_seconds() + next.communication_seconds() +
                      next.resharding_seconds(),
                  next.more_seconds(), 1e-12);
      EXPECT_NEAR(next.at_least_seconds(), next.more_seconds(), 1e-12);
      std::set<int> changed;
      for (const v1::PlanChange& change : next.changes()) {
        EXPECT_NE(change.from(), change.to());
        changed.insert(change.segments().begin(), change.segments().end());
      }
      for (int s : choice.segments()) EXPECT_TRUE(changed.contains(s));
    }
    EXPECT_EQ(segments.size(), choice_.size());
  }

  store::FakeProfileStore store_;
  planning::MeasuredStep step_;
  space::SegmentChoice choice_;
  search::Plan fastest_;
};

TEST_F(ExplainChoicesTest, EverySegmentIsInOneChoiceAndThePartsAddUp) {
  for (const char* model : {"gpt2_4l", "t5_tiny"}) {
    Make(model);
    const v1::PlanExplanation explanation = Explain();
    ExpectSound(explanation);
    // Layers are not listed one by one.
    EXPECT_LT(explanation.choices_size(), static_cast<int>(choice_.size()));
  }
}

TEST_F(ExplainChoicesTest, AMemoryLimitHoldsForTheNextBestToo) {
  Make("gpt2_4l");
  const int64_t limit = fastest_.peak_bytes * 98 / 100;
  Make("gpt2_4l", formulation::FindDeviceMemoryBytes(limit));
  const v1::PlanExplanation explanation = Explain();
  ExpectSound(explanation);
  for (const v1::PlanChoice& choice : explanation.choices()) {
    EXPECT_LE(fastest_.peak_bytes + choice.next_best().peak_bytes(), limit);
  }
}

// Every position of a group is one choice.
TEST(ExplainGroups, APositionIsAChoice) {
  jobs::LargeHead measurer;
  measurer.machine = 1;
  store::FakeProfileStore store;
  v1::PlanRequest request;
  request.set_hlo_module(segmenter::ReadSample("gpt2_4l"));
  for (int64_t size : {1, 2}) request.mutable_mesh()->add_shape(size);
  const auto ignore = [](const v1::PlanProgress&) {};
  const auto plan = [&](int64_t limit) {
    request.set_device_memory_bytes(limit);
    return *planning::MakePlan(request, {&store, &measurer}, ignore);
  };
  const auto opened = planning::OpenStep(request, &measurer);
  ASSERT_TRUE(opened.ok()) << opened.status();
  measurer.label = absl::StrCat(
      "type ", opened->analysis.type_of_segment.back().value(), ":");
  const v1::Plan grouped = plan(plan(1000).least_memory_bytes());
  request.set_device_memory_bytes(0);
  *request.mutable_strategies() = grouped.strategies();
  request.set_no_wait(true);
  const auto step = planning::MeasureStep(request, {&store, &measurer}, ignore);
  ASSERT_TRUE(step.ok()) << step.status();
  const auto choice =
      exporting::FindChoice(grouped, step->analysis, step->space);
  ASSERT_TRUE(choice.ok()) << choice.status();
  const auto explained = ExplainChoices(*step, *choice, {});
  ASSERT_TRUE(explained.ok()) << explained.status();
  std::set<std::pair<int, int>> seen;
  int segments = 0;
  for (const v1::PlanChoice& it : explained->choices()) {
    EXPECT_TRUE(seen.emplace(it.type(), it.config()).second);
    segments += it.segments_size();
  }
  EXPECT_EQ(segments, grouped.segments_size());
}

}  // namespace
}  // namespace meshwright::explain
