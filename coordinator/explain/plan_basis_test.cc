#include "coordinator/explain/plan_basis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "coordinator/explain/testing/fastest_plan.h"
#include "coordinator/planning/score.h"
#include "profiledb/store/testing/fake_profile_store.h"

namespace meshwright::explain {
namespace {

using testing::SizeIs;

// The basis of the fastest plan of a step on a made-up machine.
class PlanBasisTest : public testing::Test {
 protected:
  void SetUp() override {
    auto fastest = PlanSample("gpt2_4l", /*limit=*/0, &store_);
    ASSERT_TRUE(fastest.ok()) << fastest.status();
    step_ = std::move(fastest->step);
    choice_ = std::move(fastest->choice);
    auto basis = FindPlanBasis(step_, choice_, /*points=*/6, {});
    ASSERT_TRUE(basis.ok()) << basis.status();
    basis_ = *std::move(basis);
    auto score = planning::ScoreChoice(step_, choice_);
    ASSERT_TRUE(score.ok()) << score.status();
    score_ = *std::move(score);
  }

  store::FakeProfileStore store_;
  planning::MeasuredStep step_;
  space::SegmentChoice choice_;
  planning::Score score_;
  PlanBasis basis_;
};

TEST_F(PlanBasisTest, RunsOfProgramsAddUpToTheStep) {
  double sum = 0;
  double resharding = 0;
  std::set<std::string> keys;
  for (const UsedProgram& it : basis_.programs) {
    const double seconds =
        it.runs * 1e-9 * static_cast<double>(it.row.measurement().minimum_ns());
    sum += seconds;
    if (it.resharding) resharding += seconds;
    EXPECT_FALSE(it.label.empty());
    EXPECT_TRUE(keys.insert(it.row.key()).second);
  }
  EXPECT_NEAR(sum, score_.seconds, 1e-9);
  EXPECT_DOUBLE_EQ(basis_.step_seconds, score_.seconds);
  EXPECT_EQ(basis_.peak_bytes, score_.peak_bytes);
  EXPECT_NEAR(resharding, score_.resharding_seconds, 1e-9);
  EXPECT_LT(basis_.programs.size(), choice_.size() + 4) << "layers are listed";
}

TEST_F(PlanBasisTest, ASegmentsPassesAreAllOfItsTime) {
  ASSERT_THAT(basis_.segments, SizeIs(choice_.size()));
  for (const SegmentBasis& it : basis_.segments) {
    EXPECT_NEAR(it.forward_share + it.backward_share + it.update_share, 1,
                1e-9);
    EXPECT_GE(it.forward_share, 0);
  }
  const SegmentBasis& layer = basis_.segments[2];
  EXPECT_GT(layer.forward_share, 0.1);
  EXPECT_GT(layer.backward_share, layer.forward_share);
  EXPECT_GT(layer.saved_bytes, 0);
  EXPECT_GT(layer.persistent_bytes, 0);
}

// The timeline of a report is made of these.
TEST_F(PlanBasisTest, ThePeakIsOfRunningSegmentsOrOfReducedGradients) {
  int64_t persistent = 0;
  int64_t saved = 0;
  int64_t fullest = 0;
  for (const SegmentBasis& it : basis_.segments) {
    persistent += it.persistent_bytes;
    saved += it.saved_bytes;
    fullest = std::max(fullest, saved + it.transient_bytes);
  }
  EXPECT_EQ(std::max(persistent + fullest, basis_.reducing_bytes),
            basis_.peak_bytes);
}

TEST_F(PlanBasisTest, TheFrontTradesTimeForMemory) {
  ASSERT_GT(basis_.front.size(), 1u);
  for (size_t i = 1; i < basis_.front.size(); ++i) {
    EXPECT_GT(basis_.front[i].peak_bytes, basis_.front[i - 1].peak_bytes);
    EXPECT_LT(basis_.front[i].step_seconds, basis_.front[i - 1].step_seconds);
  }
  EXPECT_NEAR(basis_.front.back().step_seconds, score_.seconds, 1e-12);
  EXPECT_LE(basis_.front.back().lower_bound_seconds, score_.seconds);
}

}  // namespace
}  // namespace meshwright::explain
