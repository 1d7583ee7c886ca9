#include "planner/checkpoint/solve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <stop_token>
#include <string>

#include "planner/checkpoint/replay.h"
#include "planner/checkpoint/testing/exhaustive.h"
#include "planner/checkpoint/testing/random_chain.h"

namespace meshwright::checkpoint {
namespace {

using ::testing::HasSubstr;

// Every length up to `stages` and every kind of chain, `seeds` of each.
std::vector<Chain> Chains(int stages, int seeds) {
  std::vector<Chain> chains;
  for (int n = 1; n <= stages; ++n) {
    for (int seed = 0; seed < seeds; ++seed) {
      ChainKind kind{.stages = n};
      kind.largest = seed % 4 == 0 ? 1'000'000'007 : seed % 4 == 1 ? 3 : 20;
      kind.transients = seed % 2 == 0;
      kind.communication = seed % 3 == 0;
      kind.zeros = seed % 5 == 0;
      kind.proportional = seed % 7 == 0;
      kind.distinct = seed % 6 == 0 ? 2 : 0;
      chains.push_back(RandomChain(seed * 100 + n, kind));
    }
  }
  return chains;
}

Answer Solved(const Chain& chain, int64_t budget, const Options& options = {}) {
  const auto answer = Solve(chain, budget, options);
  EXPECT_TRUE(answer.ok()) << answer.status();
  return answer.ok() ? *answer : Answer{};
}

// Solve's figures of a plan are those of Replay.
void CheckPlan(const Chain& chain, int64_t budget, const Answer& answer) {
  ASSERT_TRUE(answer.plan.has_value());
  const auto replayed = Replay(chain, answer.plan->sequence);
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  EXPECT_EQ(replayed->makespan, answer.plan->makespan);
  EXPECT_EQ(replayed->peak_bytes, answer.plan->peak_bytes);
  EXPECT_LE(answer.plan->peak_bytes, budget);
  EXPECT_LE(answer.lower_bound, answer.plan->makespan);
}

// The makespan of the enumerated front at `budget`.
Picoseconds At(const std::vector<FrontPoint>& front, int64_t budget) {
  Picoseconds best{0};
  for (const FrontPoint& point : front) {
    if (point.peak_bytes <= budget) best = point.makespan;
  }
  return best;
}

// Budgets where the answer changes, just below and in between.
std::vector<int64_t> Budgets(const std::vector<FrontPoint>& front) {
  std::vector<int64_t> budgets;
  for (const FrontPoint& point : front) {
    for (const int64_t below : {int64_t{1}, int64_t{0}}) {
      if (point.peak_bytes > below) budgets.push_back(point.peak_bytes - below);
    }
  }
  budgets.push_back(front.back().peak_bytes + 1);
  return budgets;
}

void ExpectOptimal(const Chain& chain) {
  const auto front = SolveExhaustively(chain, Schedules::kPersistent);
  for (const int64_t budget : Budgets(front)) {
    const Answer answer = Solved(chain, budget);
    if (budget < front.front().peak_bytes) {
      EXPECT_FALSE(answer.plan.has_value());
      EXPECT_EQ(answer.least_memory_bytes, front.front().peak_bytes);
      continue;
    }
    CheckPlan(chain, budget, answer);
    EXPECT_EQ(answer.plan->makespan, At(front, budget)) << budget;
    EXPECT_TRUE(answer.Optimal());
  }
}

TEST(SolveTest, IsOptimalAtEveryBudget) {
  for (const Chain& chain : Chains(5, 120)) ExpectOptimal(chain);
}

TEST(SolveTest, IsOptimalAtEveryBudgetOfLongerChains) {
  for (int n = 6; n <= 7; ++n) {
    for (int seed = 0; seed < 60; ++seed) {
      ExpectOptimal(
          RandomChain(seed, {.stages = n,
                             .largest = seed % 2 == 0 ? 12 : 1'000'000,
                             .transients = seed % 3 != 0,
                             .communication = seed % 3 != 1,
                             .zeros = seed % 4 == 0}));
    }
  }
}

// How much the restriction to memory-persistent schedules costs.
TEST(SolveTest, UnrestrictedSchedulesAreSeldomBetter) {
  int budgets = 0;
  int slower = 0;
  int hungrier = 0;
  double worst = 1;
  for (const Chain& chain : Chains(5, 60)) {
    const auto persistent = SolveExhaustively(chain, Schedules::kPersistent);
    const auto any = SolveExhaustively(chain, Schedules::kUnrestricted);
    EXPECT_LE(any.front().peak_bytes, persistent.front().peak_bytes);
    hungrier += any.front().peak_bytes < persistent.front().peak_bytes;
    for (const FrontPoint& point : persistent) {
      const Picoseconds best = At(any, point.peak_bytes);
      EXPECT_LE(best, point.makespan);
      ++budgets;
      if (best == point.makespan) continue;
      ++slower;
      worst = std::max(worst, static_cast<double>(point.makespan.count()) /
                                  static_cast<double>(best.count()));
    }
  }
  std::cout << "unrestricted schedules are faster at " << slower << " of "
            << budgets << " budgets, at most by a factor of " << worst
            << ", and need less memory on " << hungrier << " chains\n";
}

TEST(SolveTest, SlotsEncloseTheOptimum) {
  for (const Chain& chain : Chains(7, 40)) {
    const int64_t min_bytes = *Solved(chain, 1).least_memory_bytes;
    for (const int64_t more : {0, 7, 1000, 300'000'000}) {
      const Answer exact = Solved(chain, min_bytes + more);
      ASSERT_TRUE(exact.Optimal());
      for (const int slots : {1, 3, 10, 500}) {
        Options options;
        options.exact_stages = 0;
        options.slots = slots;
        const Answer answer = Solved(chain, min_bytes + more, options);
        CheckPlan(chain, min_bytes + more, answer);
        EXPECT_LE(answer.lower_bound, exact.plan->makespan);
        EXPECT_GE(answer.plan->makespan, exact.plan->makespan);
      }
    }
  }
}

TEST(SolveTest, SlotsEncloseTheOptimumOfLongChains) {
  for (int seed = 0; seed < 6; ++seed) {
    const Chain chain =
        RandomChain(seed, {.stages = 50 + seed, .largest = 1'000'000'000});
    const int64_t min_bytes = *Solved(chain, 1).least_memory_bytes;
    for (const int64_t share : {0, 1, 4, 16}) {
      const int64_t budget = min_bytes + share * (min_bytes / 2);
      const Answer exact = Solved(chain, budget);
      CheckPlan(chain, budget, exact);
      ASSERT_TRUE(exact.Optimal());
      Options options;
      options.exact_stages = 0;
      const Answer answer = Solved(chain, budget, options);
      CheckPlan(chain, budget, answer);
      EXPECT_LE(answer.lower_bound, exact.plan->makespan);
      EXPECT_GE(answer.plan->makespan, exact.plan->makespan);
      EXPECT_LE(answer.plan->makespan.count(),
                exact.plan->makespan.count() * 1.05);
    }
  }
}

TEST(SolveTest, MoreBudgetIsNeverSlower) {
  const Chain chain = RandomChain(3, {.stages = 30, .largest = 1'000'000});
  int64_t budget = *Solved(chain, 1).least_memory_bytes;
  Picoseconds last = Picoseconds::max();
  for (; last > Solved(chain, int64_t{1} << 50).plan->makespan;
       budget += 400'000) {
    const Answer answer = Solved(chain, budget);
    CheckPlan(chain, budget, answer);
    EXPECT_LE(answer.plan->makespan, last);
    last = answer.plan->makespan;
  }
}

TEST(SolveTest, FullMemoryRepeatsNothing) {
  for (const Chain& chain : Chains(6, 30)) {
    Picoseconds once = chain.loss;
    for (int i = 0; i < chain.stages(); ++i) {
      once += chain.ForwardTime(i) + chain.BackwardTime(i);
    }
    const int64_t max_budget = std::numeric_limits<int64_t>::max();
    const Answer answer = Solved(chain, max_budget);
    EXPECT_EQ(answer.plan->makespan, once);
    EXPECT_EQ(answer.solver, "save all");
    // Exactly as much as it takes is enough.
    EXPECT_EQ(Solved(chain, std::max<int64_t>(1, answer.plan->peak_bytes))
                  .plan->makespan,
              once);
  }
}

TEST(SolveTest, AsManyStagesAsThereMayBe) {
  const Chain chain = RandomChain(1, {.stages = kMaxStages});
  const Answer answer = Solved(chain, int64_t{1} << 40);
  EXPECT_EQ(answer.plan->sequence.size(), 2 * kMaxStages + 1);
}

TEST(SolveTest, SameAnswerOnAnyNumberOfThreads) {
  const Chain chain = RandomChain(9, {.stages = 120, .largest = 1'000'000});
  const int64_t budget = 2 * *Solved(chain, 1).least_memory_bytes;
  for (const int exact_stages : {0, 256}) {
    Options options;
    options.exact_stages = exact_stages;
    options.threads = 1;
    const Answer one = Solved(chain, budget, options);
    options.threads = 5;
    const Answer five = Solved(chain, budget, options);
    EXPECT_EQ(one.plan->sequence, five.plan->sequence);
    EXPECT_EQ(one.lower_bound, five.lower_bound);
  }
}

TEST(SolveTest, FewBytesForTablesOnlyWidenTheGap) {
  const Chain chain = RandomChain(9, {.stages = 120, .largest = 1'000'000});
  const int64_t budget = 2 * *Solved(chain, 1).least_memory_bytes;
  Options options;
  options.exact_stages = 0;
  const Answer full = Solved(chain, budget, options);
  options.table_bytes = 1'000'000;
  const Answer small = Solved(chain, budget, options);
  CheckPlan(chain, budget, small);
  EXPECT_LE(small.lower_bound, full.lower_bound);
}

TEST(SolveTest, GivesUpTheProofNotThePlan) {
  const Chain chain = RandomChain(9, {.stages = 60, .largest = 1'000'000});
  const int64_t budget = 2 * *Solved(chain, 1).least_memory_bytes;
  Options options;
  options.exact_steps = 10;
  const Answer answer = Solved(chain, budget, options);
  CheckPlan(chain, budget, answer);
  EXPECT_FALSE(answer.Optimal());
  EXPECT_LE(answer.lower_bound, Solved(chain, budget).plan->makespan);
}

TEST(SolveTest, AStopOrAPastDeadlineStillGivesAPlanAndABound) {
  const Chain chain = RandomChain(9, {.stages = 60, .largest = 1'000'000});
  const int64_t min_bytes = *Solved(chain, 1).least_memory_bytes;
  std::stop_source stop;
  stop.request_stop();
  Options stopped;
  stopped.deadline.stop = stop.get_token();
  Options late;
  late.deadline.at = std::chrono::steady_clock::time_point::min();
  for (const Options& options : {stopped, late}) {
    for (const int64_t budget :
         {min_bytes, min_bytes + min_bytes / 3, 2 * min_bytes}) {
      const Answer answer = Solved(chain, budget, options);
      CheckPlan(chain, budget, answer);
      EXPECT_EQ(answer.solver, "first");
      EXPECT_LE(answer.lower_bound, Solved(chain, budget).plan->makespan);
    }
    EXPECT_EQ(Solved(chain, min_bytes - 1, options).least_memory_bytes,
              min_bytes);
  }
}

TEST(SolveTest, RefusesABudgetThatIsNotPositive) {
  const Chain chain = RandomChain(1, {});
  for (const int64_t budget : {int64_t{0}, int64_t{-3}}) {
    const auto answer = Solve(chain, budget);
    EXPECT_EQ(answer.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(answer.status().message()),
                HasSubstr(absl::StrCat("budget is ", budget)));
  }
  Options options;
  options.slots = -1;
  EXPECT_THAT(std::string(Solve(chain, 1, options).status().message()),
              HasSubstr("slots is -1"));
  EXPECT_FALSE(Solve(Chain(), 1).ok());
}

// Sizes and times as large as a chain may have.
TEST(SolveTest, SumsAtTheLimitsDoNotOverflow) {
  constexpr int kStages = 40;
  const int64_t bytes = std::numeric_limits<int64_t>::max() / (8 * kStages);
  const int64_t time = problem::kMaxTime.count() / (2 * kStages);
  Chain chain;
  chain.act_bytes.assign(kStages + 1, bytes / 2);
  chain.saved_bytes.assign(kStages, bytes);
  chain.forward.assign(kStages, Picoseconds(time));
  chain.backward.assign(kStages, Picoseconds(time));
  ASSERT_TRUE(Validate(chain).ok());
  const int64_t min_bytes = *Solved(chain, 1).least_memory_bytes;
  const auto tight = Solve(chain, min_bytes);
  if (tight.ok()) {
    CheckPlan(chain, min_bytes, *tight);
  } else {
    EXPECT_EQ(tight.status().code(), absl::StatusCode::kOutOfRange);
  }
  const Answer answer = Solved(chain, kStages / 2 * bytes);
  CheckPlan(chain, kStages / 2 * bytes, answer);
  EXPECT_TRUE(answer.Optimal());
}

TEST(SolveTest, StagesThatCostAndTakeNothing) {
  Chain chain;
  chain.act_bytes.assign(9, 0);
  chain.saved_bytes = {0, 5, 0, 5, 0, 0, 5, 0};
  chain.forward.assign(8, Picoseconds(0));
  chain.backward.assign(8, Picoseconds(0));
  for (int64_t budget = 5; budget <= 16; ++budget) {
    const Answer answer = Solved(chain, budget);
    CheckPlan(chain, budget, answer);
    EXPECT_EQ(answer.plan->makespan, Picoseconds(0));
  }
  EXPECT_EQ(Solved(chain, 4).least_memory_bytes, 5);
}

}  // namespace
}  // namespace meshwright::checkpoint
