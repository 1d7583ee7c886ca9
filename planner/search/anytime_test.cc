// A search may be stopped at any moment: what it says then holds.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "planner/problem/evaluate.h"
#include "planner/problem/testing/write_problem.h"
#include "planner/search/search.h"
#include "planner/search/testing/exhaustive.h"
#include "planner/search/testing/random_problem.h"

namespace meshwright::search {
namespace {

using problem::Picoseconds;
using problem::PlanProblem;

// The optimum lies between `min_time` and `max_time`.
void ExpectHolds(const PlanProblem& problem, const Answer& answer,
                 Picoseconds min_time, Picoseconds max_time) {
  ASSERT_TRUE(answer.plan.has_value());
  const auto evaluation = problem::Evaluate(problem, answer.plan->choice);
  ASSERT_TRUE(evaluation.ok()) << evaluation.status();
  ASSERT_EQ(evaluation->time, answer.plan->time);
  ASSERT_EQ(evaluation->peak_bytes, answer.plan->peak_bytes);
  if (problem.memory_limit_bytes.has_value()) {
    ASSERT_LE(evaluation->peak_bytes, *problem.memory_limit_bytes);
  }
  ASSERT_LE(answer.lower_bound, max_time);
  ASSERT_GE(answer.plan->time, min_time);
  ASSERT_EQ(answer.Gap() == 0, answer.lower_bound == answer.plan->time);
}

// Searches end after a count of work drawn at random; some at once.
TEST(AnytimeTest, HoldsAfterAnyAmountOfWork) {
  std::mt19937_64 random(5);
  int open = 0;
  for (int round = 0; round < 300; ++round) {
    const PlanProblem problem =
        RandomProblem(920000 + round, {.shuffled = true,
                                       .tied = round % 3 == 0,
                                       .fixed = round % 4 == 0,
                                       .limit = round % 2 == 0,
                                       .skeleton = Skeleton(round % 4)});
    SCOPED_TRACE(problem::ProblemToJson(problem));
    const Exhaustive oracle = SolveExhaustively(problem);
    const int64_t work = int64_t{1} << (random() % 12);
    std::stop_source source;
    if (work <= 8) source.request_stop();
    const auto answer =
        Solve(problem, {.deadline = {.stop = source.get_token()},
                        .work = {.table_entries = 4 * work,
                                 .table_steps = static_cast<double>(work),
                                 .easy_steps = 1,
                                 .labels = 10 + work,
                                 .candidates = work}});
    ASSERT_TRUE(answer.ok()) << answer.status();
    ASSERT_EQ(answer->plan.has_value(), oracle.choice.has_value());
    if (!oracle.choice.has_value()) {
      ASSERT_EQ(answer->least_memory_bytes, oracle.least_memory_bytes);
      continue;
    }
    ExpectHolds(problem, *answer, oracle.time, oracle.time);
    open += answer->Gap() > 0 ? 1 : 0;
  }
  EXPECT_GT(open, 5);
}

// 40 copies of one type under a limit in the middle: tens of milliseconds.
PlanProblem Chain(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int64_t bound) {
    return static_cast<int64_t>(random() % bound);
  };
  PlanProblem problem;
  problem::NodeType layer{"layer", {}};
  for (int c = 0; c < 30; ++c) {
    const int64_t time = 27'000'000'000 + below(37'000'000'000);
    layer.configs.push_back({Picoseconds(time), (70'000'000'000 - time) / 100,
                             below(40'000), below(200'000'000)});
  }
  problem::Table table{30, 30, {}};
  for (int i = 0; i < 900; ++i) {
    table.entries.push_back(Picoseconds(below(4'000'000'000)));
  }
  problem.types = {layer};
  problem.nodes = {{.type = 0, .repeat = 40}};
  problem.tables = {table};
  problem.self_edges = {{0, 0}};
  const auto fastest = Solve(problem);
  problem.memory_limit_bytes = 0;
  const auto smallest = Solve(problem);
  problem.memory_limit_bytes =
      (fastest->plan->peak_bytes + *smallest->least_memory_bytes) / 2;
  return problem;
}

TEST(AnytimeTest, HoldsWhenCancelledByAnotherThread) {
  const PlanProblem problem = Chain(1);
  const auto whole = Solve(problem);
  ASSERT_TRUE(whole.ok()) << whole.status();
  ASSERT_LE(whole->Gap(), 1e-3);
  std::mt19937_64 random(7);
  for (int round = 0; round < 30; ++round) {
    std::stop_source source;
    const int64_t turns = random() % 10'000'000;
    std::jthread other([&source, turns] {
      std::atomic<int64_t> turn = 0;
      while (turn.fetch_add(1) < turns) {
      }
      source.request_stop();
    });
    const auto answer =
        Solve(problem, {.deadline = {.stop = source.get_token()}});
    ASSERT_TRUE(answer.ok()) << answer.status();
    ExpectHolds(problem, *answer, whole->lower_bound, whole->plan->time);
  }
}

TEST(AnytimeTest, HoldsAtAnyDeadline) {
  const PlanProblem problem = Chain(2);
  const auto whole = Solve(problem);
  ASSERT_TRUE(whole.ok()) << whole.status();
  for (int microseconds = 0; microseconds < 30'000; microseconds += 1500) {
    const auto answer = Solve(
        problem, {.deadline = {.at = std::chrono::steady_clock::now() +
                                     std::chrono::microseconds(microseconds)}});
    ASSERT_TRUE(answer.ok()) << answer.status();
    ExpectHolds(problem, *answer, whole->lower_bound, whole->plan->time);
  }
}

// The plan of fewest bytes has a transient too large; one of more bytes fits.
// Stopped in between, the search must not say that nothing does.
TEST(AnytimeTest, StoppedBeforeTheLeastMemoryItDoesNotSayThatNothingFits) {
  PlanProblem problem;
  problem.types = {{"node",
                    {{Picoseconds(1), 10, 0, 100},
                     {Picoseconds(2), 50, 0, 0},
                     {Picoseconds(0), 200, 0, 0}}}};
  problem.nodes = {{.type = 0}};
  problem.memory_limit_bytes = 60;
  const auto whole = Solve(problem);
  ASSERT_TRUE(whole.ok()) << whole.status();
  ASSERT_EQ(whole->plan->peak_bytes, 50);
  std::stop_source source;
  source.request_stop();
  const auto stopped =
      Solve(problem, {.deadline = {.stop = source.get_token()}});
  ASSERT_TRUE(stopped.ok()) << stopped.status();
  ASSERT_TRUE(stopped->plan.has_value());
  EXPECT_EQ(stopped->plan->peak_bytes, 50);

  // Where pairs are forbidden, it may not know.
  problem.nodes.push_back({.type = 0});
  problem.tables = {{3, 3, {}}};
  problem.tables[0].entries.assign(9, Picoseconds(0));
  problem.tables[0].entries[2].reset();
  problem.edges = {{0, 1, 0}};
  problem.memory_limit_bytes = 110;
  const auto unknown =
      Solve(problem, {.deadline = {.stop = source.get_token()}});
  EXPECT_EQ(unknown.status().code(), absl::StatusCode::kResourceExhausted);
}

// Four nodes that must all differ in one of three configurations: no plan, and
// no pair that shows it.
TEST(AnytimeTest, AStopIsHeardWithoutAPlanToo) {
  PlanProblem problem;
  problem.types = {{"node",
                    {{Picoseconds(1), 0, 0, 0},
                     {Picoseconds(1), 0, 0, 0},
                     {Picoseconds(1), 0, 0, 0}}}};
  problem.tables = {{3, 3, {}}};
  problem.tables[0].entries.assign(9, Picoseconds(0));
  for (const int same : {0, 4, 8}) problem.tables[0].entries[same].reset();
  for (int b = 0; b < 4; ++b) {
    problem.nodes.push_back({.type = 0});
    for (int a = 0; a < b; ++a) problem.edges.push_back({a, b, 0});
  }
  // Time alone leaves the search as it is: without a plan it owes a proof.
  const auto late =
      Solve(problem,
            {.deadline = {.at = std::chrono::steady_clock::time_point::min()}});
  ASSERT_TRUE(late.ok()) << late.status();
  EXPECT_FALSE(late->plan.has_value());
  std::stop_source source;
  source.request_stop();
  const auto stopped =
      Solve(problem, {.deadline = {.stop = source.get_token()}});
  EXPECT_EQ(stopped.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(stopped.status().message().find("was stopped"), std::string::npos)
      << stopped.status();
  const auto tried =
      TrySolve(problem, {.deadline = {.stop = source.get_token()}});
  ASSERT_TRUE(tried.ok()) << tried.status();
  EXPECT_FALSE(tried->plan.has_value());
  EXPECT_FALSE(tried->least_memory_bytes.has_value());
  EXPECT_EQ(tried->lower_bound, Picoseconds(0));
}

}  // namespace
}  // namespace meshwright::search
