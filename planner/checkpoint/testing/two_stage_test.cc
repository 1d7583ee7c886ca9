#include "planner/checkpoint/testing/two_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stop_token>
#include <string>
#include <vector>

#include "planner/checkpoint/testing/random_chain.h"

namespace meshwright::checkpoint {
namespace {

using ::testing::HasSubstr;

// Four shardings of one model: the faster, the more memory, all saved.
std::vector<IntraOpPlan> Shardings() {
  std::vector<IntraOpPlan> plans;
  for (int64_t id = 0; id < 4; ++id) {
    Chain chain;
    chain.act_bytes.assign(7, 10 << id);
    chain.saved_bytes.assign(6, 50 << id);
    chain.forward.assign(6, Picoseconds(1000 >> id));
    chain.backward.assign(6, Picoseconds(2000 >> id));
    plans.push_back({id, chain, 10});
  }
  return plans;
}

// The fastest that fits when everything is saved, as an intra-op solver would.
IntraOpSolver Fastest(std::vector<int64_t>* asked = nullptr) {
  return [asked](int64_t budget) -> absl::StatusOr<std::optional<IntraOpPlan>> {
    if (asked != nullptr) asked->push_back(budget);
    std::optional<IntraOpPlan> best;
    for (const IntraOpPlan& plan : Shardings()) {
      if ((310 << plan.id) <= budget) best = plan;
    }
    return best;
  };
}

TEST(TwoStageTest, AsksForTheBudgetsOfThePaper) {
  std::vector<int64_t> asked;
  const auto sweep =
      SweepTwoStage(1000, Fastest(&asked), {.expansion = 0.5, .budgets = 4});
  ASSERT_TRUE(sweep.ok()) << sweep.status();
  EXPECT_EQ(asked, (std::vector<int64_t>{1000, 1500, 2250, 3375}));
}

TEST(TwoStageTest, TradesRecomputeForAFasterSharding) {
  const auto sweep = SweepTwoStage(700, Fastest());
  ASSERT_TRUE(sweep.ok()) << sweep.status();
  ASSERT_TRUE(sweep->best.has_value());
  EXPECT_EQ(sweep->attempts.size(), 10);
  const Attempt& first = sweep->attempts.front();
  const Attempt& best = sweep->attempts[*sweep->best];
  EXPECT_EQ(first.plan_id, 1);
  EXPECT_GT(best.plan_id, 1);
  EXPECT_LT(best.answer->plan->makespan, first.answer->plan->makespan);
  // The best is what trying every sharding gives, the earliest of its kind.
  Picoseconds min_makespan = Picoseconds::max();
  for (const IntraOpPlan& plan : Shardings()) {
    const auto answer = Solve(plan.chain, 700 - plan.persistent_bytes);
    ASSERT_TRUE(answer.ok());
    if (!answer->plan.has_value()) continue;
    min_makespan = std::min(min_makespan, answer->plan->makespan);
  }
  EXPECT_EQ(best.answer->plan->makespan, min_makespan);
  for (int n = 0; n < *sweep->best; ++n) {
    EXPECT_NE(sweep->attempts[n].plan_id, best.plan_id);
  }
}

TEST(TwoStageTest, PersistentBytesAreNotForCheckpoints) {
  const auto sweep = SweepTwoStage(700, Fastest());
  ASSERT_TRUE(sweep.ok()) << sweep.status();
  for (const Attempt& attempt : sweep->attempts) {
    if (!attempt.answer.has_value() || !attempt.answer->plan) continue;
    EXPECT_LE(attempt.answer->plan->peak_bytes, 690);
  }
}

TEST(TwoStageTest, WhereNothingFitsThereIsNoBest) {
  const auto none = SweepTwoStage(
      10, [](int64_t) -> absl::StatusOr<std::optional<IntraOpPlan>> {
        return std::nullopt;
      });
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_FALSE(none->best.has_value());
  EXPECT_EQ(none->attempts.size(), 10);
  const auto full = SweepTwoStage(
      10, [](int64_t) -> absl::StatusOr<std::optional<IntraOpPlan>> {
        return Shardings()[0];
      });
  ASSERT_TRUE(full.ok()) << full.status();
  EXPECT_FALSE(full->best.has_value());
  EXPECT_FALSE(full->attempts[0].answer.has_value());
}

TEST(TwoStageTest, AStopEndsTheSweepAfterItsFirstAttempt) {
  std::stop_source stop;
  stop.request_stop();
  SweepOptions options;
  options.checkpoint.deadline.stop = stop.get_token();
  const auto sweep = SweepTwoStage(700, Fastest(), options);
  ASSERT_TRUE(sweep.ok()) << sweep.status();
  EXPECT_EQ(sweep->attempts.size(), 1);
  EXPECT_TRUE(sweep->best.has_value());
}

TEST(TwoStageTest, BudgetsDoNotOverflow) {
  std::vector<int64_t> asked;
  const auto sweep = SweepTwoStage(int64_t{1} << 61, Fastest(&asked),
                                   {.expansion = 9, .budgets = 64});
  ASSERT_TRUE(sweep.ok()) << sweep.status();
  EXPECT_EQ(asked.back(), std::numeric_limits<int64_t>::max());
}

TEST(TwoStageTest, RefusesWhatIsNoSweep) {
  const auto message = [](int64_t budget, const SweepOptions& options) {
    return std::string(
        SweepTwoStage(budget, Fastest(), options).status().message());
  };
  EXPECT_THAT(message(0, {}), HasSubstr("budget is 0"));
  EXPECT_THAT(message(1, {.expansion = 0}), HasSubstr("expansion is 0"));
  EXPECT_THAT(message(1, {.expansion = NAN}), HasSubstr("expansion is nan"));
  EXPECT_THAT(message(1, {.budgets = 0}), HasSubstr("budgets is 0"));
  EXPECT_THAT(message(1, {.budgets = 65}), HasSubstr("budgets is 65"));
  const auto failed = SweepTwoStage(
      1, [](int64_t) -> absl::StatusOr<std::optional<IntraOpPlan>> {
        return absl::UnavailableError("the solver is away");
      });
  EXPECT_EQ(failed.status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace meshwright::checkpoint
