#include "coordinator/explain/explain_stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/stages/planned_pipeline.h"
#include "coordinator/stages/staged_plan.h"
#include "planner/pipeline/memory.h"
#include "profiledb/store/testing/fake_profile_store.h"

namespace meshwright::explain {
namespace {

const auto kQuiet = [](const v1::PlanProgress&) {};

class ExplainStagesTest : public testing::Test {
 protected:
  ExplainStagesTest() {
    measurer_.machine = 11;
    request_.set_hlo_module(segmenter::ReadSample("gpt2_4l"));
    request_.set_full_space(true);
    v1::StageRequest& stages = *request_.mutable_stages();
    stages.set_micro_batches(kMicroBatches);
    stages.set_host_bytes_per_second(1e12);
  }

  // Plans, and recalls the step of the plan.
  void Make(const std::vector<int64_t>& mesh, int64_t limit = 0) {
    request_.mutable_mesh()->mutable_shape()->Assign(mesh.begin(), mesh.end());
    request_.set_device_memory_bytes(limit);
    auto plan = stages::MakeStagedPlan(request_, Dependencies(), kQuiet);
    ASSERT_TRUE(plan.ok()) << plan.status();
    ASSERT_TRUE(plan->feasible());
    plan_ = *std::move(plan);
    *request_.mutable_strategies() = plan_.strategies();
    const int measured = measurer_.programs;
    request_.set_no_wait(true);
    auto step = stages::MeasureMeshes(*stages::UseClusterMesh(request_),
                                      Dependencies(), kQuiet);
    request_.set_no_wait(false);
    ASSERT_TRUE(step.ok()) << step.status();
    step_ = *std::move(step);
    EXPECT_EQ(measurer_.programs, measured);
  }

  pipeline::Schedule PlannedSchedule() const {
    return *pipeline::ParseSchedule(plan_.pipeline().schedule());
  }

  absl::StatusOr<StageChoices> Explain() {
    return ExplainStageChoices(request_, plan_, *step_, Dependencies(), {});
  }

  planning::PlanDependencies Dependencies() { return {&store_, &measurer_}; }

  // Every segment in one choice of its stage, and figures that add up.
  void ExpectSound(const StageChoices& choices) {
    const v1::PlanExplanation& explanation = choices.explanation;
    ASSERT_EQ(static_cast<size_t>(explanation.choices_size()),
              choices.next.size());
    std::set<int> segments;
    for (int i = 0; i < explanation.choices_size(); ++i) {
      const v1::PlanChoice& choice = explanation.choices(i);
      ASSERT_GE(choice.stage(), 1);
      ASSERT_LE(choice.stage(), plan_.stages_size());
      const v1::PlanStage& stage = plan_.stages(choice.stage() - 1);
      for (const int s : choice.segments()) {
        EXPECT_TRUE(segments.insert(s).second);
        ASSERT_GE(s, stage.first_segment());
        const auto& own = stage.segments(s - stage.first_segment());
        EXPECT_EQ(own.describe(), choice.describe());
      }
      EXPECT_EQ(choice.has_next_best(), choices.next[i].has_value());
      if (choice.has_next_best()) {
        ExpectSound(choice, *choices.next[i], stage);
      }
    }
    EXPECT_EQ(static_cast<int>(segments.size()), step_->Segments());
  }

  void ExpectSound(const v1::PlanChoice& choice, const stages::StageWork& work,
                   const v1::PlanStage& stage) {
    const v1::PlanAlternative& next = choice.next_best();
    EXPECT_NEAR(next.step_seconds(),
                stage.predicted().step_seconds() + next.more_seconds(), 1e-11);
    const pipeline::Picoseconds passes =
        work.stage.forward +
        pipeline::ComputeBackward(PlannedSchedule(), work.stage);
    EXPECT_NEAR(next.step_seconds(),
                problem::ToSeconds(kMicroBatches * passes + work.update),
                1e-11);
    EXPECT_NEAR(next.compute_seconds() + next.communication_seconds() +
                    next.resharding_seconds(),
                next.more_seconds(), 1e-11);
    EXPECT_LE(next.at_least_seconds(), next.more_seconds() + 1e-11);
    std::set<int> changed;
    for (const v1::PlanChange& change : next.changes()) {
      EXPECT_NE(change.from(), change.to());
      for (const int s : change.segments()) {
        changed.insert(s);
        EXPECT_GE(s, stage.first_segment());
        EXPECT_LT(s, stage.first_segment() + stage.segments_size());
      }
    }
    for (const int s : choice.segments()) EXPECT_TRUE(changed.contains(s));
  }

  static constexpr int kMicroBatches = 16;
  store::FakeProfileStore store_;
  jobs::FakeMeasurer measurer_;
  v1::PlanRequest request_;
  v1::Plan plan_;
  std::unique_ptr<stages::MeasuredMeshes> step_;
};

TEST_F(ExplainStagesTest, EverySegmentIsInOneChoiceOfItsStage) {
  Make({2, 2});
  ASSERT_GT(plan_.stages_size(), 1);
  const auto choices = Explain();
  ASSERT_TRUE(choices.ok()) << choices.status();
  ExpectSound(*choices);
  // Nothing of a stage beats what it has by more than ties go.
  int costlier = 0;
  for (const v1::PlanChoice& it : choices->explanation.choices()) {
    if (!it.has_next_best()) continue;
    EXPECT_GE(it.next_best().more_share(), -0.03) << it.describe();
    costlier += it.next_best().more_seconds() > 0;
  }
  EXPECT_GT(costlier, 0);
}

// The stage alone, by all its configurations of one segment: the next best of
// one choice is the best of all others.
TEST_F(ExplainStagesTest, TheNextBestOfOneSegmentIsTheBestOfTheOthers) {
  Make({1, 2});
  const auto& step = step_->meshes.back()->step;
  // A plan of one stage that holds one segment, at each configuration.
  const segmenter::SegmentIndex segment(step_->Segments() - 1);
  const segmenter::SegmentTypeId type = step.analysis.type_of_segment[segment];
  v1::PlanStage stage = plan_.stages(0);
  stage.mutable_mesh()->Clear();
  for (const int64_t size : {1, 2}) stage.add_mesh(size);
  stage.set_first_segment(static_cast<int>(segment));
  std::vector<double> seconds;
  std::vector<StageChoices> all;
  std::vector<int> of;
  for (const int configuration : step.measured.usable[type]) {
    stage.clear_segments();
    v1::PlanSegment& it = *stage.add_segments();
    it.set_type(static_cast<int>(type));
    it.set_describe(
        step.space.types[type].configurations[configuration].describe);
    plan_.clear_stages();
    *plan_.add_stages() = stage;
    auto choices =
        ExplainStageChoices(request_, plan_, *step_, Dependencies(), {});
    ASSERT_TRUE(choices.ok()) << choices.status();
    ASSERT_EQ(choices->next.size(), 1u);
    ASSERT_TRUE(choices->next[0].has_value());
    const v1::PlanAlternative& next =
        choices->explanation.choices(0).next_best();
    seconds.push_back(next.step_seconds() - next.more_seconds());
    all.push_back(*std::move(choices));
  }
  ASSERT_GT(seconds.size(), 2u);
  for (size_t i = 0; i < seconds.size(); ++i) {
    double best = 1e9;
    for (size_t j = 0; j < seconds.size(); ++j) {
      if (j != i) best = std::min(best, seconds[j]);
    }
    // A picosecond of every pass is lost to rounding; what sums of gradients
    // take is not searched.
    EXPECT_NEAR(all[i].explanation.choices(0).next_best().step_seconds(), best,
                0.02 * best);
  }
}

TEST_F(ExplainStagesTest, AMemoryLimitHoldsForTheNextBestToo) {
  Make({2, 2});
  int64_t peak = 0;
  for (const v1::PlanStage& it : plan_.stages()) {
    peak = std::max(peak, it.predicted().peak_bytes());
  }
  const int64_t limit = peak * 9 / 10;
  Make({2, 2}, limit);
  const auto choices = Explain();
  ASSERT_TRUE(choices.ok()) << choices.status();
  ExpectSound(*choices);
  const auto problem = stages::ParsePipeline(plan_);
  ASSERT_TRUE(problem.ok()) << problem.status();
  const auto held =
      pipeline::FindMaxHeld(*stages::SimulatePlan(plan_, *problem));
  int compared = 0;
  for (size_t i = 0; i < choices->next.size(); ++i) {
    if (!choices->next[i].has_value()) continue;
    const v1::PlanChoice& it = choices->explanation.choices(i);
    const pipeline::Stage& next = choices->next[i]->stage;
    const v1::PlanStage& stage = plan_.stages(it.stage() - 1);
    const int64_t bytes = pipeline::FindPeak(next, held[it.stage() - 1]);
    EXPECT_LE(bytes, limit);
    EXPECT_EQ(bytes - it.next_best().peak_bytes(),
              stage.predicted().peak_bytes());
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

TEST_F(ExplainStagesTest, APlanOfAnotherStepIsRefused) {
  Make({2, 1});
  plan_.mutable_stages(0)->mutable_segments(0)->set_describe("sideways");
  const auto refused = Explain();
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  plan_.mutable_stages(0)->set_mesh(0, 7);
  EXPECT_THAT(std::string(Explain().status().message()),
              testing::HasSubstr("7x1"));
}

}  // namespace
}  // namespace meshwright::explain
