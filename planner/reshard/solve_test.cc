#include "planner/reshard/solve.h"

#include <gtest/gtest.h>

#include "planner/reshard/bounds/bounds.h"
#include "planner/reshard/testing/exhaustive.h"
#include "planner/reshard/testing/random_reshard.h"

namespace meshwright::reshard {
namespace {

TEST(SolveTest, EverySolverAnswersWithABound) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const ReshardProblem problem =
        RandomTasks(seed, {.speeds = seed % 2 == 1, .links = seed % 3 == 1});
    const Ticks min_makespan = MinimumMakespan(problem);
    for (const char* name : {"auto", "naive", "load-balance", "depth-first",
                             "randomized", "ensemble"}) {
      const auto answer = Solve(problem, {.solver = *ParseSolver(name)});
      ASSERT_TRUE(answer.ok()) << answer.status();
      EXPECT_GE(answer->timing.makespan, min_makespan);
      EXPECT_LE(answer->lower_bound, min_makespan);
      EXPECT_EQ(answer->optimal,
                answer->lower_bound == answer->timing.makespan);
      if (std::string(name) == "auto") {
        EXPECT_TRUE(answer->optimal);
      }
    }
  }
  EXPECT_FALSE(ParseSolver("best").ok());
}

// Every part sent alone can only be as good as some split: parts are never
// worse than whole tasks, and never below the bound of parts.
TEST(SolveTest, SplittingNeverCosts) {
  int better = 0, proven = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    ReshardProblem problem = RandomTasks(seed, {.tasks = 6,
                                                .receiver_hosts = 5,
                                                .max_receivers = 2,
                                                .max_bytes = 1000,
                                                .speeds = seed % 4 == 1,
                                                .links = seed % 5 == 1});
    const auto whole = Solve(problem);
    problem.split = true;
    const auto parts = Solve(problem);
    ASSERT_TRUE(whole.ok() && parts.ok()) << parts.status();
    EXPECT_LE(parts->timing.makespan, whole->timing.makespan);
    EXPECT_LE(parts->lower_bound, whole->lower_bound);
    better += parts->timing.makespan < whole->timing.makespan;
    proven += parts->optimal;
  }
  EXPECT_GT(better, 10);
  EXPECT_GT(proven, 100);
}

// Whoever makes the schedule: parts may beat all schedules of whole tasks.
TEST(SolveTest, ASolverOfThePaperIsBoundedByParts) {
  ReshardProblem problem{.bandwidth_bytes_per_s = 1, .split = true};
  for (const char* name : {"s0", "s1", "d0", "d1", "d2"}) {
    problem.hosts.push_back({.name = name});
  }
  problem.tasks = {
      {"a", 10, {0, 1}, {2}}, {"b", 10, {0, 1}, {3}}, {"c", 10, {0, 1}, {4}}};
  const auto parts = Solve(problem);
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_EQ(parts->timing.makespan, 15);
  for (const char* name :
       {"naive", "load-balance", "depth-first", "randomized", "ensemble"}) {
    SCOPED_TRACE(name);
    const auto answer = Solve(problem, {.solver = *ParseSolver(name)});
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_GE(answer->timing.makespan, 20);
    EXPECT_LE(answer->lower_bound, 15);
    EXPECT_FALSE(answer->optimal);
  }
}

// The bound of parts holds for any way to cut: cut at random and solved
// exactly.
TEST(SolveTest, TheBoundOfPartsHolds) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    ReshardProblem problem = RandomTasks(seed, {.tasks = 3,
                                                .max_senders = 2,
                                                .max_bytes = 12,
                                                .links = seed % 3 == 1});
    problem.split = true;
    const auto answer = Solve(problem);
    ReshardProblem cut = problem;
    cut.split = false;
    cut.tasks.clear();
    for (const UnitTask& task : problem.tasks) {
      int64_t left = task.size_bytes;
      for (size_t s = 0; s < task.senders.size() && left > 0; ++s) {
        const bool last = s + 1 == task.senders.size();
        const auto share = static_cast<int64_t>((seed + s) % 3);
        const int64_t bytes = last ? left : left * share / 2;
        if (bytes == 0) continue;
        left -= bytes;
        UnitTask part = task;
        part.id = task.id + "." + std::to_string(s);
        part.size_bytes = bytes;
        part.senders = {task.senders[s]};
        cut.tasks.push_back(part);
      }
    }
    EXPECT_LE(answer->lower_bound, MinimumMakespan(cut));
  }
}

TEST(SolveTest, ADeadlineThatIsPastStillGivesASchedule) {
  const ReshardProblem problem = RandomTasks(5, {.tasks = 300,
                                                 .sender_hosts = 9,
                                                 .receiver_hosts = 9,
                                                 .max_receivers = 4,
                                                 .max_bytes = 1000});
  Options options;
  options.deadline.at = std::chrono::steady_clock::time_point::min();
  const auto answer = Solve(problem, options);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_LE(answer->lower_bound, answer->timing.makespan);
}

// Data that only one sender holds is not cut, so nothing of it is rounded off.
TEST(SolveTest, ABoundOfPartsIsRoundedWhereThereArePartsAlone) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    ReshardProblem problem =
        RandomTasks(seed, {.max_senders = 1, .speeds = true});
    const Instance instance = MakeInstance(problem);
    problem.split = true;
    const auto answer = Solve(problem);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_GE(answer->lower_bound, std::max(ComputeReceiverBound(instance),
                                            ComputeSenderBound(instance)));
  }
}

}  // namespace
}  // namespace meshwright::reshard
