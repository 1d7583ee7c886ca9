// The front against all plans of small problems.
#include "planner/search/tradeoffs/pareto_front.h"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <optional>

#include "planner/problem/evaluate.h"
#include "planner/problem/testing/write_problem.h"
#include "planner/search/testing/exhaustive.h"
#include "planner/search/testing/random_problem.h"

namespace meshwright::search {
namespace {

using problem::Picoseconds;
using problem::PlanProblem;

// From the oracle alone: the fastest plan, then within one byte less, and so
// on. Peak by time.
std::map<int64_t, int64_t> Oracle(PlanProblem problem) {
  std::map<int64_t, int64_t> front;
  while (true) {
    const Exhaustive best = SolveExhaustively(problem);
    if (!best.choice.has_value()) return front;
    const int64_t peak = problem::Evaluate(problem, *best.choice)->peak_bytes;
    front[best.time.count()] = peak;
    if (peak == 0) return front;
    problem.memory_limit_bytes = peak - 1;
  }
}

Kinds DrawKinds(int round) {
  return {.skips = round % 2 == 0,
          .shuffled = true,
          .tied = round % 3 == 0,
          .nulls = round % 5 == 0,
          .fixed = round % 4 == 0,
          .limit = round % 7 == 0,
          .gaps = round % 3 == 1,
          .skeleton = static_cast<Skeleton>(round % 4),
          .nodes = 4,
          .copies = 5};
}

TEST(MemoryFrontTest, IsThatOfAllPlans) {
  int points = 0;
  for (int round = 0; round < 400; ++round) {
    const PlanProblem problem = RandomProblem(900000 + round, DrawKinds(round));
    SCOPED_TRACE(problem::ProblemToJson(problem));
    const auto front = FindFront(problem, 1000);
    ASSERT_TRUE(front.ok()) << front.status();
    EXPECT_TRUE(front->is_complete);
    std::map<int64_t, int64_t> found;
    for (const FrontPoint& point : front->points) {
      const auto evaluation = problem::Evaluate(problem, point.plan.choice);
      ASSERT_TRUE(evaluation.ok()) << evaluation.status();
      ASSERT_EQ(evaluation->time, point.plan.time);
      ASSERT_EQ(evaluation->peak_bytes, point.plan.peak_bytes);
      found[point.plan.time.count()] = point.plan.peak_bytes;
    }
    ASSERT_EQ(found, Oracle(problem));
    points += static_cast<int>(found.size());
  }
  EXPECT_GT(points, 1000);
}

// However few points, and however little is spent, no plan is below what the
// points say of their limits.
TEST(MemoryFrontTest, BoundsHoldBetweenFewPoints) {
  for (int round = 0; round < 300; ++round) {
    const PlanProblem problem = RandomProblem(910000 + round, DrawKinds(round));
    SCOPED_TRACE(problem::ProblemToJson(problem));
    const int64_t asked = 1 + round % 4;
    Options options;
    if (round % 2 == 0) {
      options.work = {.table_entries = 3,
                      .table_steps = 1,
                      .easy_steps = 1,
                      .labels = 100,
                      .candidates = 50};
    }
    const auto front = FindFront(problem, asked, options);
    if (front.status().code() == absl::StatusCode::kResourceExhausted) {
      ASSERT_EQ(round % 5, 0) << "nothing is forbidden";
      // A later search without an answer does not lose the points before.
      ASSERT_EQ(Solve(problem, options).status().code(),
                absl::StatusCode::kResourceExhausted);
      continue;
    }
    ASSERT_TRUE(front.ok()) << front.status();
    ASSERT_LE(front->points.size(), asked);
    const FrontPoint* before = nullptr;
    for (const FrontPoint& point : front->points) {
      ASSERT_LE(point.lower_bound, point.plan.time);
      ASSERT_LE(point.plan.peak_bytes, point.limit_bytes);
      for (const auto& [time, peak] : Oracle(problem)) {
        if (peak <= point.limit_bytes) {
          ASSERT_GE(Picoseconds(time), point.lower_bound);
        }
      }
      if (before != nullptr) {
        ASSERT_LT(before->plan.peak_bytes, point.plan.peak_bytes);
        ASSERT_GT(before->plan.time, point.plan.time);
      }
      before = &point;
    }
  }
}

// Few points are points of the whole front too, and are called complete only
// where they are all.
TEST(MemoryFrontTest, FewPointsAreOfTheFront) {
  int few = 0;
  for (int round = 0; round < 400; ++round) {
    const PlanProblem problem = RandomProblem(920000 + round, DrawKinds(round));
    SCOPED_TRACE(problem::ProblemToJson(problem));
    const int64_t asked = 1 + round % 3;
    const auto front = FindFront(problem, asked);
    ASSERT_TRUE(front.ok()) << front.status();
    ASSERT_LE(std::ssize(front->points), asked);
    const std::map<int64_t, int64_t> all = Oracle(problem);
    for (const FrontPoint& point : front->points) {
      const auto found = all.find(point.plan.time.count());
      ASSERT_NE(found, all.end());
      ASSERT_EQ(found->second, point.plan.peak_bytes);
      const auto evaluation = problem::Evaluate(problem, point.plan.choice);
      ASSERT_TRUE(evaluation.ok()) << evaluation.status();
      ASSERT_EQ(evaluation->time, point.plan.time);
      ASSERT_EQ(evaluation->peak_bytes, point.plan.peak_bytes);
    }
    const bool is_all = front->points.size() == all.size();
    ASSERT_TRUE(is_all || !front->is_complete);
    ASSERT_TRUE(front->is_complete || std::ssize(front->points) == asked);
    if (!all.empty()) {
      ASSERT_EQ(front->least_memory_bytes, all.rbegin()->second);
    }
    few += is_all ? 0 : 1;
  }
  EXPECT_GT(few, 50);
}

TEST(MemoryFrontTest, ADeadlineThatIsPastStillGivesAPoint) {
  const PlanProblem problem = RandomProblem(1, {});
  const auto front =
      FindFront(problem, 10,
                {.deadline = {.at = std::chrono::steady_clock::time_point{}}});
  ASSERT_TRUE(front.ok()) << front.status();
  EXPECT_FALSE(front->points.empty());
}

// All plans are equally fast, so that the first one found is proved. The search
// for one of fewer bytes ends without an answer: a pair is forbidden, and the
// graph is no chain.
TEST(MemoryFrontTest, NothingIsSaidOfAMinimumThatIsNotKnown) {
  const problem::Config large{.persistent_bytes = 20};
  const problem::Config small{.persistent_bytes = 10};
  PlanProblem problem;
  problem.types = {{"segment", {large, small}}};
  problem.nodes = {{.type = 0}, {.type = 0}, {.type = 0}};
  problem.edges = {{0, 1, 0}, {1, 2, 0}, {0, 2, 0}};
  problem.tables = {{2, 2, {}}};
  problem.tables[0].entries.assign(4, Picoseconds(0));
  problem.tables[0].entries[2].reset();
  const auto front =
      FindFront(problem, 10,
                {.deadline = {.at = std::chrono::steady_clock::time_point{}}});
  ASSERT_TRUE(front.ok()) << front.status();
  EXPECT_EQ(front->points.size(), 1);
  EXPECT_FALSE(front->is_complete);
  EXPECT_FALSE(front->least_memory_bytes.has_value());
}

TEST(MemoryFrontTest, SaysHowManyPointsThereMayBe) {
  const PlanProblem problem = RandomProblem(1, {});
  EXPECT_EQ(FindFront(problem, 0).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FindFront(problem, 1'000'000'000).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace meshwright::search
