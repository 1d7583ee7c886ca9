// The work of a search changes how it finds its answer and how far it proves
// it, not what is true. On problems too large for the oracle, every way is held
// to the plain elimination.
#include <gtest/gtest.h>

#include "planner/problem/testing/write_problem.h"
#include "planner/search/search.h"
#include "planner/search/testing/random_problem.h"

namespace meshwright::search {
namespace {

using problem::PlanProblem;

constexpr double kEverything = 1e12;

PlanProblem Medium(int seed, bool limit) {
  return RandomProblem(seed, {.shuffled = seed % 3 == 0,
                              .tied = seed % 2 == 0,
                              .nulls = seed % 5 == 0,
                              .limit = limit,
                              .skeleton = static_cast<Skeleton>(seed % 4),
                              .nodes = seed % 4 == 3 ? 9 : 16,
                              .copies = 24,
                              .configs = 6});
}

Answer Solved(const PlanProblem& problem, const WorkBudget& work) {
  const auto answer = Solve(problem, {.work = work});
  EXPECT_TRUE(answer.ok()) << answer.status();
  return answer.value_or(Answer{});
}

TEST(WorkBudgetTest, GuessingFirstFindsAPlanAsFast) {
  for (int seed = 0; seed < 300; ++seed) {
    const PlanProblem problem = Medium(seed, false);
    SCOPED_TRACE(problem::ProblemToJson(problem));
    const Answer plain = Solved(problem, {.easy_steps = kEverything});
    const Answer guessed = Solved(problem, {.easy_steps = 1});
    ASSERT_EQ(plain.plan.has_value(), guessed.plan.has_value());
    if (!plain.plan.has_value()) continue;
    ASSERT_EQ(plain.lower_bound, plain.plan->time);
    ASSERT_EQ(guessed.plan->time, plain.plan->time);
    ASSERT_EQ(guessed.lower_bound, plain.plan->time);
  }
}

TEST(WorkBudgetTest, LimitedPlansAreProvedWithAndWithoutTables) {
  int limited = 0;
  for (int seed = 0; seed < 240; ++seed) {
    const PlanProblem problem = Medium(seed, true);
    SCOPED_TRACE(problem::ProblemToJson(problem));
    const Answer plain = Solved(problem, {.easy_steps = kEverything});
    const Answer guessed = Solved(problem, {.easy_steps = 1});
    ASSERT_EQ(plain.plan.has_value(), guessed.plan.has_value());
    ASSERT_EQ(plain.least_memory_bytes, guessed.least_memory_bytes);
    if (!plain.plan.has_value()) continue;
    limited += plain.solver.find("labels") != std::string::npos ? 1 : 0;
    ASSERT_EQ(plain.lower_bound, plain.plan->time);
    ASSERT_EQ(guessed.plan->time, plain.plan->time);
    ASSERT_EQ(guessed.lower_bound, plain.plan->time);
  }
  EXPECT_GT(limited, 25);
}

// No tables, few labels: what is left is a plan and a bound that hold.
TEST(WorkBudgetTest, WithoutTablesThereIsStillAPlanAndABound) {
  int open = 0;
  for (const bool limit : {false, true}) {
    for (int seed = 0; seed < 240; ++seed) {
      if (seed % 5 == 0) continue;  // forbidden pairs may hide every plan
      const PlanProblem problem = Medium(seed, limit);
      SCOPED_TRACE(problem::ProblemToJson(problem));
      const Answer plain = Solved(problem, {});
      const Answer little = Solved(problem, {.table_entries = 64,
                                             .table_steps = 1,
                                             .easy_steps = 1,
                                             .labels = 400,
                                             .candidates = 400});
      ASSERT_EQ(plain.plan.has_value(), little.plan.has_value());
      if (!plain.plan.has_value()) continue;
      ASSERT_LE(little.lower_bound, plain.plan->time);
      ASSERT_GE(little.plan->time, plain.plan->time);
      open += little.Gap() > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(open, 40);
}

}  // namespace
}  // namespace meshwright::search
