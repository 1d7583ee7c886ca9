// The oracle of the other tests against the evaluator, plan by plan.
#include "planner/search/testing/exhaustive.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "planner/problem/allowed.h"
#include "planner/problem/evaluate.h"
#include "planner/problem/testing/write_problem.h"
#include "planner/search/testing/random_problem.h"

namespace meshwright::search {
namespace {

using problem::Choice;
using problem::PlanProblem;

// The choice after `choice` in lexicographic order; false after the last.
bool Next(const PlanProblem& problem, Choice& choice) {
  for (size_t n = choice.size(); n > 0; --n) {
    const problem::Node& node = problem.nodes[n - 1];
    const int configs =
        static_cast<int>(problem.types[node.type].configs.size());
    std::vector<int>& copies = choice[n - 1];
    for (size_t i = copies.size(); i > 0; --i) {
      const bool carries = ++copies[i - 1] == configs;
      if (carries) copies[i - 1] = 0;
      if (!carries) return true;
    }
  }
  return false;
}

// A choice that the evaluator refuses, for whatever reason, is no plan.
Exhaustive ByEvaluator(const PlanProblem& problem) {
  Choice choice;
  for (const problem::Node& node : problem.nodes) {
    choice.emplace_back(node.repeat, 0);
  }
  const std::optional<int64_t> limit = problem::ComputeUsableBytes(problem);
  Exhaustive best;
  do {
    const auto evaluation = problem::Evaluate(problem, choice);
    if (!evaluation.ok()) continue;
    const int64_t peak = evaluation->peak_bytes;
    best.least_memory_bytes =
        std::min(best.least_memory_bytes.value_or(peak), peak);
    if (peak > limit.value_or(peak)) continue;
    if (best.choice.has_value() && evaluation->time >= best.time) continue;
    best.choice = choice;
    best.time = evaluation->time;
  } while (Next(problem, choice));
  return best;
}

TEST(ExhaustiveTest, AgreesWithTheEvaluatorOnEveryPlan) {
  int feasible = 0;
  for (int round = 0; round < 300; ++round) {
    const bool odd = round % 2 == 1;
    const PlanProblem problem =
        RandomProblem(710000 + round, {.shuffled = odd,
                                       .tied = round % 3 == 0,
                                       .nulls = round % 5 < 2,
                                       .fixed = round % 4 == 0,
                                       .limit = odd,
                                       .skeleton = Skeleton(round % 4)});
    SCOPED_TRACE(problem::ProblemToJson(problem));
    const Exhaustive wanted = ByEvaluator(problem);
    const Exhaustive got = SolveExhaustively(problem);
    ASSERT_EQ(got.choice, wanted.choice);
    ASSERT_EQ(got.least_memory_bytes, wanted.least_memory_bytes);
    if (!wanted.choice.has_value()) continue;
    ASSERT_EQ(got.time, wanted.time);
    ++feasible;
  }
  EXPECT_GT(feasible, 100);
}

}  // namespace
}  // namespace meshwright::search
