// Searches so short of effort that the integer program has to do the work, held
// to the exhaustive oracle.
#include "planner/search/elimination/ilp_fallback.h"

#include <gtest/gtest.h>

#include "planner/problem/testing/write_problem.h"
#include "planner/search/search.h"
#include "planner/search/testing/exhaustive.h"
#include "planner/search/testing/random_problem.h"

namespace meshwright::search {
namespace {

using problem::PlanProblem;

// Nothing is eliminated, and labels are one at a time.
constexpr WorkBudget kIlpAlone{.table_entries = 3,
                               .table_steps = 1,
                               .easy_steps = 1,
                               .labels = 1,
                               .candidates = 1};

// Returns how often the integer program bettered something.
int Compare(const Kinds& kinds, int rounds, uint64_t first_seed) {
  int by_ilp = 0;
  for (int round = 0; round < rounds; ++round) {
    const PlanProblem problem = RandomProblem(first_seed + round, kinds);
    SCOPED_TRACE(problem::ProblemToJson(problem));
    const Exhaustive oracle = SolveExhaustively(problem);
    const auto answer = Solve(problem, {.work = kIlpAlone});
    EXPECT_TRUE(answer.ok()) << answer.status();
    if (!answer.ok()) return 0;
    EXPECT_EQ(answer->plan.has_value(), oracle.choice.has_value());
    if (answer->plan.has_value() != oracle.choice.has_value()) return 0;
    if (!oracle.choice.has_value()) {
      EXPECT_EQ(answer->least_memory_bytes, oracle.least_memory_bytes);
      continue;
    }
    EXPECT_EQ(answer->plan->time, oracle.time);
    EXPECT_EQ(answer->lower_bound, oracle.time);
    if (testing::Test::HasFailure()) return 0;
    by_ilp += answer->solver.find("ilp") != std::string::npos ? 1 : 0;
  }
  return by_ilp;
}

class ByIlpTest : public testing::TestWithParam<Skeleton> {
 protected:
  Kinds Of(bool everything, bool limit) const {
    return {.skips = true,
            .shuffled = true,
            .tied = everything,
            .nulls = everything,
            .fixed = everything,
            .limit = limit,
            .gaps = everything,
            .skeleton = GetParam(),
            .nodes = 7,
            .copies = 8};
  }
};

TEST_P(ByIlpTest, Free) { EXPECT_GE(Compare(Of(false, false), 130, 1000), 0); }
TEST_P(ByIlpTest, FreeWithEverything) {
  EXPECT_GE(Compare(Of(true, false), 130, 2000), 0);
}
TEST_P(ByIlpTest, Limited) {
  EXPECT_GT(Compare(Of(false, true), 130, 3000), 5);
}
TEST_P(ByIlpTest, LimitedWithEverything) {
  EXPECT_GT(Compare(Of(true, true), 130, 4000), 2);
}

INSTANTIATE_TEST_SUITE_P(Skeletons, ByIlpTest,
                         testing::Values(Skeleton::kChain, Skeleton::kHub,
                                         Skeleton::kLadder, Skeleton::kDense));

TEST(ByIlpAnswerTest, ALargeModelIsLeftAlone) {
  Model model;
  model.domains = {{{0, 1}, {5, 3}, {0, 0}, {0, 0}}};
  model.variables = {{0, 0}, {0, 1}};
  model.matrices = {{2, 2, {0, 1, 1, 0}}};
  model.joins = {{0, 1, 0}};
  const base::Deadline on;
  const auto answer = SolveByIlp(model, std::nullopt, {}, {}, on);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->bound, 6);
  EXPECT_EQ(answer->places, (std::vector<int>{1, 1}));
  EXPECT_FALSE(
      SolveByIlp(model, std::nullopt, {}, {.ilp_entries = 3}, on).has_value());
  model.domains[0].time[0] = kNever / 16;
  EXPECT_FALSE(SolveByIlp(model, std::nullopt, {}, {}, on).has_value());
}

TEST(ByIlpAnswerTest, ALimitThatNothingFitsIsSaid) {
  Model model;
  model.domains = {{{0, 1}, {5, 3}, {10, 20}, {1, 0}}};
  model.variables = {{0, 0}, {0, 1}};
  const base::Deadline on;
  const auto answer = SolveByIlp(model, 20, {}, {}, on);
  ASSERT_TRUE(answer.has_value());
  EXPECT_GE(answer->bound, kNever);
  EXPECT_TRUE(answer->places.empty());
  EXPECT_EQ(SolveByIlp(model, 21, {}, {}, on)->bound, 10);
  EXPECT_EQ(SolveByIlp(model, 31, {}, {}, on)->bound, 8);
}

}  // namespace
}  // namespace meshwright::search
