// The integer program against every choice there is.
#include "planner/ilp/solve.h"

#include <gtest/gtest.h>

#include "planner/ilp/testing/random_choices.h"

namespace meshwright::ilp {
namespace {

void Compare(int seed, const Shape& shape) {
  const MultipleChoice problem = RandomMultipleChoice(seed, shape);
  const std::optional<int64_t> least = LeastCost(problem);
  const auto solution = Solve(problem);
  ASSERT_TRUE(solution.ok()) << solution.status();
  if (!least.has_value()) {
    ASSERT_EQ(solution->verdict, Verdict::kInfeasible) << seed;
    ASSERT_FALSE(solution->choice.has_value());
    return;
  }
  ASSERT_EQ(solution->verdict, Verdict::kOptimal) << seed;
  ASSERT_EQ(solution->cost, *least) << seed;
  ASSERT_EQ(solution->bound, *least) << seed;
  ASSERT_EQ(ComputeCost(problem, *solution->choice), *least);
}

TEST(IlpSolveTest, FindsTheLeastCost) {
  for (int seed = 0; seed < 150; ++seed) Compare(seed, {});
}

TEST(IlpSolveTest, ForbiddenPairsMayLeaveNothing) {
  for (int seed = 0; seed < 150; ++seed) {
    Compare(seed, {.options = 3, .forbidden = true});
  }
}

TEST(IlpSolveTest, Budgets) {
  for (int seed = 0; seed < 150; ++seed) {
    Compare(seed, {.budgets = 1 + seed % 2, .transients = seed % 3 > 0});
  }
}

// Bytes of gigabytes and times of seconds: one byte too many is too many, and
// a picosecond less is less.
TEST(IlpSolveTest, BytesAndPicosecondsOfRealSize) {
  for (int seed = 0; seed < 100; ++seed) {
    Compare(seed, {.costs = 60'000'000'000,
                   .weights = 40'000'000'000,
                   .budgets = 1,
                   .transients = seed % 2 == 0});
  }
}

// Weights that differ by single bytes, limits at the peak of some choice.
TEST(IlpSolveTest, LimitsAreHeldToTheByte) {
  for (int seed = 0; seed < 100; ++seed) {
    Shape shape{.costs = 1'000'000, .weights = 8, .budgets = 1};
    MultipleChoice problem = RandomMultipleChoice(seed, shape);
    constexpr int64_t kBig = 10'000'000'000;
    for (auto& group : problem.budgets[0].weights) {
      for (size_t o = 0; o < group.size(); ++o) {
        group[o] += kBig * static_cast<int64_t>(o % 2);
      }
    }
    problem.budgets[0].limit += 2 * kBig;
    const auto solution = Solve(problem);
    ASSERT_TRUE(solution.ok());
    const std::optional<int64_t> least = LeastCost(problem);
    ASSERT_EQ(solution->choice.has_value(), least.has_value()) << seed;
    if (!least.has_value()) continue;
    ASSERT_EQ(solution->cost, *least) << seed;
    ASSERT_EQ(solution->bound, *least) << seed;
  }
}

TEST(IlpSolveTest, StartsFromWhatIsKnown) {
  for (int seed = 0; seed < 100; ++seed) {
    const MultipleChoice problem =
        RandomMultipleChoice(seed, {.budgets = 1, .transients = true});
    const auto plain = Solve(problem);
    ASSERT_TRUE(plain.ok());
    if (!plain->choice.has_value()) continue;
    const auto again = Solve(problem, {.known = *plain->choice});
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->cost, plain->cost);
    EXPECT_EQ(again->verdict, Verdict::kOptimal);
  }
  EXPECT_EQ(Solve(RandomMultipleChoice(1, {}), {.known = {0}}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

MultipleChoice Large() {
  return RandomMultipleChoice(5, {.groups = 14,
                                  .options = 8,
                                  .costs = 1'000'000,
                                  .weights = 1'000'000,
                                  .budgets = 1,
                                  .transients = true});
}

TEST(IlpSolveTest, HoldsWhenStopped) {
  const MultipleChoice problem = Large();
  const std::vector<int> known(14, 0);
  for (const double seconds : {0.0, 1e-5, 1e-4, 1e-3, 1e-2}) {
    const auto solution = Solve(
        problem, {.deadline = base::Deadline::After(seconds), .known = known});
    ASSERT_TRUE(solution.ok()) << solution.status();
    EXPECT_GE(solution->bound, 0);
    const auto least = ComputeCost(problem, known);
    if (!least.has_value()) continue;
    ASSERT_TRUE(solution->choice.has_value());
    EXPECT_LE(solution->cost, *least);
    EXPECT_LE(solution->bound, solution->cost);
  }
  std::stop_source stopped;
  stopped.request_stop();
  Options options{.known = known};
  options.deadline.stop = stopped.get_token();
  const auto late = Solve(problem, options);
  ASSERT_TRUE(late.ok());
  EXPECT_NE(late->verdict, Verdict::kInfeasible);
}

// Too large to be presolved in time.
TEST(IlpSolveTest, StopsInALargeProgram) {
  const MultipleChoice large = RandomMultipleChoice(
      7, {.groups = 40, .options = 12, .costs = 1'000'000'000});
  for (const double seconds : {1e-3, 1e-2, 1e-1}) {
    const auto solution =
        Solve(large, {.deadline = base::Deadline::After(seconds)});
    ASSERT_TRUE(solution.ok()) << solution.status();
    ASSERT_TRUE(solution->choice.has_value());
    EXPECT_EQ(ComputeCost(large, *solution->choice), solution->cost);
    EXPECT_LE(solution->bound, solution->cost);
  }
}

TEST(IlpSolveTest, HasAChoiceAtOnceWhereNothingIsForbidden) {
  for (int seed = 0; seed < 20; ++seed) {
    const MultipleChoice problem =
        RandomMultipleChoice(seed, {.groups = 8, .budgets = seed % 2});
    const auto solution =
        Solve(problem, {.deadline = base::Deadline::After(-1)});
    ASSERT_TRUE(solution.ok()) << solution.status();
    if (!LeastCost(problem).has_value()) continue;
    ASSERT_TRUE(solution->choice.has_value());
    EXPECT_EQ(ComputeCost(problem, *solution->choice), solution->cost);
    EXPECT_LE(solution->bound, *LeastCost(problem));
  }
}

TEST(IlpSolveTest, TheSameProgramGetsTheSameAnswer) {
  const MultipleChoice problem = Large();
  const auto a = Solve(problem, {.max_nodes = 5});
  const auto b = Solve(problem, {.max_nodes = 5});
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->choice, b->choice);
  EXPECT_EQ(a->bound, b->bound);
}

TEST(IlpSolveTest, BadProblemsAreRefused) {
  MultipleChoice problem = RandomMultipleChoice(1, {});
  problem.costs[0][0] = -1;
  EXPECT_EQ(Solve(problem).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace meshwright::ilp
