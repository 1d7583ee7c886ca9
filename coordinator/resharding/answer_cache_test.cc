#include "coordinator/resharding/answer_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <thread>

#include "absl/strings/str_cat.h"
#include "planner/reshard/testing/random_reshard.h"

namespace meshwright::resharding {
namespace {

using reshard::RandomTasks;
using reshard::ReshardProblem;
using std::chrono::hours;
using std::chrono::steady_clock;

ReshardProblem Problem(uint64_t seed, int tasks = 12) {
  return RandomTasks(seed, {.tasks = tasks, .max_bytes = 1 << 20});
}

ReshardProblem Renamed(ReshardProblem problem) {
  for (reshard::UnitTask& task : problem.tasks) task.id += "'";
  for (reshard::Host& host : problem.hosts) host.name += "'";
  return problem;
}

reshard::Options Within(std::optional<hours> time) {
  reshard::Options options;
  if (time.has_value()) {
    options.deadline.at = steady_clock::now() + *time;
  }
  return options;
}

// A solver that is never sure: a schedule that gets better with time, in the
// place of one that would really take so long.
class Slow {
 public:
  absl::StatusOr<reshard::Answer> operator()(const ReshardProblem& problem,
                                             const reshard::Options& options) {
    ++calls;
    const auto deadline = options.deadline.at;
    const bool long_time =
        deadline.has_value() && *deadline > steady_clock::now() + hours(5);
    auto answer = reshard::Solve(
        problem, {.solver = long_time ? reshard::Solver::kAuto
                                      : reshard::Solver::kNaive});
    return reshard::Score(problem, answer->schedule, 1, "slow");
  }
  std::atomic<int> calls = 0;
};

AnswerCache WithSlow(Slow& slow) {
  return AnswerCache({.solve = std::ref(slow)});
}

TEST(AnswerCacheTest, EqualContentIsSolvedOnce) {
  AnswerCache cache({});
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const ReshardProblem problem = Problem(seed);
    const auto first = cache.Solve(problem, {});
    ASSERT_TRUE(first.ok()) << first.status();
    EXPECT_FALSE(first->cached);
    const ReshardProblem renamed = Renamed(problem);
    const auto second = cache.Solve(renamed, {});
    ASSERT_TRUE(second.ok()) << second.status();
    EXPECT_TRUE(second->cached);
    EXPECT_EQ(second->answer.makespan_seconds, first->answer.makespan_seconds);
    EXPECT_EQ(second->answer.optimal, first->answer.optimal);
    EXPECT_EQ(second->answer.solver, first->answer.solver);
    const auto timing = reshard::Replay(renamed, second->answer.schedule);
    ASSERT_TRUE(timing.ok()) << timing.status();
    EXPECT_EQ(timing->makespan, first->answer.timing.makespan);
  }
  EXPECT_EQ(cache.statistics().solved, 50);
  EXPECT_EQ(cache.statistics().served, 50);
}

TEST(AnswerCacheTest, EveryFieldIsInTheKey) {
  AnswerCache cache({});
  const ReshardProblem problem = RandomTasks(
      1, {.tasks = 6, .max_bytes = 1 << 20, .speeds = true, .links = true});
  std::vector<ReshardProblem> problems(9, problem);
  std::swap(problems[1].tasks[0], problems[1].tasks[1]);
  problems[2].bandwidth_bytes_per_s /= 4;
  problems[3].split = true;
  ++problems[4].tasks[2].size_bytes;
  problems[5].hosts[0].out_bytes_per_s.reset();
  ++problems[6].hosts[1].in_links;
  problems[7].routes[0].bytes_per_s /= 2;
  problems[8].hosts.push_back({.name = "one more"});
  for (size_t i = 0; i < problems.size(); ++i) {
    const auto served = cache.Solve(problems[i], {});
    ASSERT_TRUE(served.ok()) << served.status();
    EXPECT_FALSE(served->cached) << i;
  }
}

TEST(AnswerCacheTest, SolversHaveAnswersOfTheirOwn) {
  AnswerCache cache({});
  const auto solved = [&](reshard::Solver solver, uint64_t seed) {
    const auto served =
        cache.Solve(Problem(3), {.solver = solver, .seed = seed});
    EXPECT_TRUE(served.ok()) << served.status();
    return served.ok() && !served->cached;
  };
  EXPECT_TRUE(solved(reshard::Solver::kAuto, 1));
  EXPECT_TRUE(solved(reshard::Solver::kNaive, 1));
  EXPECT_FALSE(solved(reshard::Solver::kNaive, 2));  // it draws no lots
  EXPECT_TRUE(solved(reshard::Solver::kRandomized, 1));
  EXPECT_TRUE(solved(reshard::Solver::kRandomized, 2));
  EXPECT_FALSE(solved(reshard::Solver::kAuto, 1));
}

TEST(AnswerCacheTest, MoreTimeImprovesLessDoesNot) {
  Slow slow;
  AnswerCache cache = WithSlow(slow);
  const ReshardProblem problem = Problem(5);
  const auto ends = [&](std::optional<hours> time) {
    const auto served = cache.Solve(problem, Within(time));
    EXPECT_TRUE(served.ok()) << served.status();
    return served.ok() ? served->answer.timing.makespan : -1;
  };
  const reshard::Ticks poor = ends(hours(2));
  EXPECT_EQ(slow.calls, 1);
  EXPECT_EQ(ends(hours(1)), poor);
  EXPECT_EQ(ends(hours(2)), poor);
  EXPECT_EQ(slow.calls, 1);
  const reshard::Ticks good = ends(hours(10));
  EXPECT_LT(good, poor);
  EXPECT_EQ(slow.calls, 2);
  EXPECT_EQ(ends(hours(1)), good);
  EXPECT_EQ(slow.calls, 2);
  // No deadline asks for another search; the better answer stays.
  EXPECT_EQ(ends(std::nullopt), good);
  EXPECT_EQ(slow.calls, 3);
  EXPECT_EQ(ends(std::nullopt), good);
  EXPECT_EQ(slow.calls, 3);
}

TEST(AnswerCacheTest, WhatIsProvenServesWhoBringsMoreTime) {
  AnswerCache cache({});
  ReshardProblem problem = Problem(2, 4);
  const auto first = cache.Solve(problem, {});
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(first->answer.optimal);
  const auto second = cache.Solve(problem, Within(hours(1)));
  ASSERT_TRUE(second.ok());
  EXPECT_TRUE(second->cached);
}

TEST(AnswerCacheTest, TheOldestGoWhenTheBytesAreUsed) {
  const auto entry = [] {
    AnswerCache cache({});
    EXPECT_TRUE(cache.Solve(Problem(0), {}).ok());
    return cache.statistics().bytes;
  }();
  AnswerCache cache({.max_bytes = 3 * entry});
  const auto cached = [&](uint64_t seed) {
    const auto served = cache.Solve(Problem(seed), {});
    EXPECT_TRUE(served.ok()) << served.status();
    return served.ok() && served->cached;
  };
  for (const uint64_t seed : {0, 1, 2}) EXPECT_FALSE(cached(seed));
  EXPECT_TRUE(cached(0));   // 1 is the oldest now
  EXPECT_FALSE(cached(3));  // in the place of 1
  EXPECT_TRUE(cached(0));
  EXPECT_TRUE(cached(2));
  EXPECT_FALSE(cached(1));
  EXPECT_EQ(cache.statistics().entries, 3);
  EXPECT_EQ(cache.statistics().evicted, 2);
  EXPECT_LE(cache.statistics().bytes, 3 * entry);
}

TEST(AnswerCacheTest, WhatIsLargerThanAllIsAnsweredAndNotKept) {
  AnswerCache cache({.max_bytes = 10});
  EXPECT_TRUE(cache.Solve(Problem(0), {}).ok());
  EXPECT_EQ(cache.statistics().entries, 0);
  EXPECT_EQ(cache.statistics().bytes, 0);
}

TEST(AnswerCacheTest, ErrorsAreTheSolversAndAreNotKept) {
  int calls = 0;
  AnswerCache cache({.solve = [&](const auto&, const auto&) {
    ++calls;
    return absl::StatusOr<reshard::Answer>(absl::InternalError("no luck"));
  }});
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(cache.Solve(Problem(0), {}).status().message(), "no luck");
  }
  EXPECT_EQ(calls, 2);
}

// A solver that waits until the test lets it go on, or its callers leave.
class Held {
 public:
  absl::StatusOr<reshard::Answer> operator()(const ReshardProblem& problem,
                                             const reshard::Options& options) {
    ++calls;
    begun.count_down();
    const std::stop_callback left(options.deadline.stop, [&] {
      cut = true;
      go_on.count_down();
    });
    go_on.wait();
    const auto answer =
        reshard::Solve(problem, {.solver = reshard::Solver::kNaive});
    return reshard::Score(problem, answer->schedule, 1, "held");
  }

  std::atomic<int> calls = 0;
  std::atomic<bool> cut = false;
  std::latch begun{1}, go_on{1};
};

class ConcurrentTest : public testing::Test {
 protected:
  struct Caller {
    std::stop_source stop;
    absl::StatusOr<AnswerCache::Served> served;
    std::thread thread;
  };

  void Start(Caller& caller) {
    caller.thread = std::thread([this, &caller] {
      reshard::Options options;
      options.deadline.stop = caller.stop.get_token();
      caller.served = cache_.Solve(Renamed(Problem(1)), options);
    });
  }
  void AwaitWaiting(int count) {
    while (cache_.statistics().waiting != count) std::this_thread::yield();
  }

  Held held_;
  AnswerCache cache_{{.solve = std::ref(held_)}};
  Caller leader_, waiters_[3];
};

TEST_F(ConcurrentTest, EqualCallersShareOneSearch) {
  Start(leader_);
  held_.begun.wait();
  for (Caller& waiter : waiters_) Start(waiter);
  AwaitWaiting(3);
  held_.go_on.count_down();
  leader_.thread.join();
  ASSERT_TRUE(leader_.served.ok());
  EXPECT_FALSE(leader_.served->cached);
  for (Caller& waiter : waiters_) {
    waiter.thread.join();
    ASSERT_TRUE(waiter.served.ok());
    EXPECT_TRUE(waiter.served->cached);
  }
  EXPECT_EQ(held_.calls, 1);
}

TEST_F(ConcurrentTest, AWaiterThatLeavesLeavesAtOnce) {
  Start(leader_);
  held_.begun.wait();
  Start(waiters_[0]);
  AwaitWaiting(1);
  waiters_[0].stop.request_stop();
  waiters_[0].thread.join();
  EXPECT_EQ(waiters_[0].served.status().code(), absl::StatusCode::kCancelled);
  EXPECT_FALSE(held_.cut);
  held_.go_on.count_down();
  leader_.thread.join();
  EXPECT_TRUE(leader_.served.ok());
}

TEST_F(ConcurrentTest, ALeaderThatLeavesTakesNothingFromTheOthers) {
  Start(leader_);
  held_.begun.wait();
  Start(waiters_[0]);
  AwaitWaiting(1);
  leader_.stop.request_stop();
  EXPECT_FALSE(held_.cut);
  held_.go_on.count_down();
  leader_.thread.join();
  waiters_[0].thread.join();
  EXPECT_EQ(leader_.served.status().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(waiters_[0].served.ok());
  EXPECT_EQ(cache_.statistics().entries, 1);
}

TEST_F(ConcurrentTest, ASearchThatEverybodyLeftEndsAndIsNotKept) {
  Start(leader_);
  held_.begun.wait();
  Start(waiters_[0]);
  AwaitWaiting(1);
  waiters_[0].stop.request_stop();
  leader_.stop.request_stop();
  leader_.thread.join();
  waiters_[0].thread.join();
  EXPECT_TRUE(held_.cut);
  EXPECT_EQ(leader_.served.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(cache_.statistics().entries, 0);
}

TEST(AnswerCacheThreadsTest, ManyCallersOfAFewProblems) {
  AnswerCache cache({});
  std::vector<std::thread> threads;
  std::atomic<int> answered = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (uint64_t seed = 0; seed < 20; ++seed) {
        answered += cache.Solve(Renamed(Problem(seed % 5)), {}).ok();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answered, 160);
  EXPECT_EQ(cache.statistics().solved, 5);
}

}  // namespace
}  // namespace meshwright::resharding
