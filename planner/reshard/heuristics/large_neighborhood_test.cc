#include "planner/reshard/heuristics/large_neighborhood.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <random>

#include "planner/reshard/bounds/bounds.h"
#include "planner/reshard/heuristics/insertion_schedule.h"
#include "planner/reshard/paper/paper_solvers.h"
#include "planner/reshard/search_order.h"
#include "planner/reshard/testing/exhaustive.h"
#include "planner/reshard/testing/random_reshard.h"

namespace meshwright::reshard {
namespace {

constexpr Ticks kAny = std::numeric_limits<Ticks>::max();

bool Meet(const Instance& instance, const Placed& a, const Placed& b) {
  const Job& one = instance.jobs[a.job];
  const Job& other = instance.jobs[b.job];
  if (one.choices[a.choice].out == other.choices[b.choice].out) return true;
  return std::any_of(one.receivers.begin(), one.receivers.end(), [&](int in) {
    return std::count(other.receivers.begin(), other.receivers.end(), in) > 0;
  });
}

// The longest chain through the first of `jobs`, the others following one
// another as they are listed, those of `before` ahead of it; nothing if that
// is a circle.
std::optional<Ticks> ChainThrough(const Instance& instance, const Order& jobs,
                                  unsigned before) {
  const size_t n = jobs.size();
  const auto follows = [&](size_t a, size_t b) {  // b right behind a
    if (a == b || !Meet(instance, jobs[a], jobs[b])) return false;
    if (a == 0) return (before >> b & 1) == 0;
    if (b == 0) return (before >> a & 1) != 0;
    return a < b;
  };
  const auto ticks = [&](size_t i) {
    return instance.jobs[jobs[i].job].choices[jobs[i].choice].ticks;
  };
  std::vector<std::vector<Ticks>> longest(n, std::vector<Ticks>(n, -1));
  for (size_t a = 0; a < n; ++a) {
    for (size_t b = 0; b < n; ++b) {
      if (follows(a, b)) longest[a][b] = ticks(b);
    }
  }
  for (size_t k = 0; k < n; ++k) {
    for (size_t a = 0; a < n; ++a) {
      for (size_t b = 0; b < n; ++b) {
        if (longest[a][k] < 0 || longest[k][b] < 0) continue;
        longest[a][b] = std::max(longest[a][b], longest[a][k] + longest[k][b]);
      }
    }
  }
  Ticks ahead = 0, behind = 0;
  for (size_t i = 0; i < n; ++i) {
    if (longest[i][i] >= 0) return std::nullopt;
    if (longest[i][0] >= 0) {
      ahead = std::max(ahead, ticks(i) + longest[i][0] - ticks(0));
    }
    behind = std::max(behind, longest[0][i]);
  }
  return ahead + ticks(0) + behind;
}

Instance Few(uint64_t seed, int tasks) {
  return MakeInstance(RandomTasks(seed, {.tasks = tasks,
                                         .sender_hosts = 3,
                                         .receiver_hosts = 4,
                                         .max_bytes = 9}));
}

TEST(InsertionScheduleTest, NoWayToInsertIsBetter) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const Instance instance = Few(seed, 7);
    Order rest = ScheduleNaively(instance);
    std::shuffle(rest.begin(), rest.end(), random);
    const int job = rest.back().job;
    rest.pop_back();
    Ticks min_time = kAny;
    for (size_t c = 0; c < instance.jobs[job].choices.size(); ++c) {
      Order jobs = {{job, static_cast<int>(c)}};
      jobs.insert(jobs.end(), rest.begin(), rest.end());
      for (unsigned before = 0; before < 1u << jobs.size(); before += 2) {
        min_time = std::min(
            min_time, ChainThrough(instance, jobs, before).value_or(kAny));
      }
    }
    InsertionSchedule schedule(instance);
    schedule.Restore(rest);
    const Ticks without = schedule.Time();
    EXPECT_EQ(schedule.Insert(job, min_time - 1, random), std::nullopt);
    EXPECT_EQ(schedule.state().order.size(), rest.size());
    ASSERT_EQ(schedule.Insert(job, min_time, random), min_time);
    EXPECT_EQ(schedule.Time(), std::max(without, min_time));
    EXPECT_EQ(ComputeMakespan(instance, schedule.ToOrder()),
              std::max(without, min_time));
  }
}

TEST(InsertionScheduleTest, EndsAndTailsAreOfTheSchedule) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const Instance instance = Few(seed, 30);
    const Order order = ScheduleNaively(instance);
    InsertionSchedule schedule(instance);
    schedule.Restore(order);
    std::vector<Ticks> starts;
    EXPECT_EQ(schedule.Time(), ComputeMakespan(instance, order, starts));
    Order backward = schedule.ToOrder();
    std::reverse(backward.begin(), backward.end());
    std::vector<Ticks> tails;
    ComputeMakespan(instance, backward, tails);
    Ticks last = 0;
    for (const int job : schedule.state().order) {
      const InsertionSchedule::JobState& state = schedule.state().jobs[job];
      EXPECT_EQ(state.end, starts[job] + state.ticks);
      EXPECT_EQ(state.tail, tails[job]);
      EXPECT_GE(state.end, last);
      last = state.end;
    }
  }
}

// Its own times are of links that are fixed; Replay chooses links again.
TEST(InsertionScheduleTest, WithSeveralLinksReplayIsNoLater) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const Instance instance =
        MakeInstance(RandomTasks(seed, {.tasks = 20, .links = true}));
    InsertionSchedule schedule(instance);
    Ticks makespan = 0;
    for (int job = 0; job < instance.size(); ++job) {
      const Ticks before = makespan;
      const auto chain = schedule.Insert(job, kAny, random);
      ASSERT_TRUE(chain.has_value());
      makespan = schedule.Time();
      EXPECT_EQ(makespan, std::max(before, *chain));
    }
    EXPECT_LE(ComputeMakespan(instance, schedule.ToOrder()), makespan);
    const Order order = ScheduleNaively(instance);
    schedule.Restore(order);
    EXPECT_EQ(schedule.Time(), ComputeMakespan(instance, order));
  }
}

TEST(ReinsertTest, IsAScheduleNoWorseThanItsStartNorBetterThanTheLeast) {
  int optimal = 0;
  constexpr int kSeeds = 300;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const ReshardProblem problem = RandomTasks(seed, {.tasks = 5,
                                                      .sender_hosts = 3,
                                                      .receiver_hosts = 4,
                                                      .links = seed % 4 == 3});
    const Instance instance = MakeInstance(problem);
    const Order start = ScheduleNaively(instance);
    const Order order = Reinsert(instance, start, {.steps = 50}, {});
    // Replay refuses orders that are not whole.
    const auto timing = Replay(problem, ToSchedule(problem, instance, order));
    ASSERT_TRUE(timing.ok()) << timing.status();
    EXPECT_EQ(timing->makespan, ComputeMakespan(instance, order));
    EXPECT_LE(timing->makespan, ComputeMakespan(instance, start));
    EXPECT_GE(timing->makespan, MinimumMakespan(problem));
    optimal += timing->makespan == MinimumMakespan(problem);
  }
  EXPECT_GT(optimal, kSeeds * 9 / 10);
}

Instance Wide(uint64_t seed, int tasks) {
  return MakeInstance(RandomTasks(seed, {.tasks = tasks,
                                         .sender_hosts = 16,
                                         .receiver_hosts = 16,
                                         .max_receivers = 8,
                                         .max_bytes = 1 << 24}));
}

TEST(ReinsertTest, WideTasksComeWithinFourPercentOfTheBound) {
  for (uint64_t seed = 100; seed < 106; ++seed) {
    SCOPED_TRACE(seed);
    const Instance instance = Wide(seed, 100);
    const Found found = SearchOrder(instance, 1, {});
    EXPECT_LE(static_cast<double>(found.makespan),
              1.04 * static_cast<double>(found.lower_bound));
  }
}

// Events and gaps leave 2 % of the worst of these.
TEST(ReinsertTest, MeetsTheBoundOfAHundredTasks) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    const Instance instance =
        MakeInstance(RandomTasks(seed, {.tasks = 100,
                                        .sender_hosts = 16,
                                        .receiver_hosts = 16,
                                        .max_bytes = 1 << 24}));
    const Found found = SearchOrder(instance, 1, {});
    EXPECT_LE(found.makespan - found.lower_bound, found.lower_bound / 1000);
  }
}

TEST(LargestFirstTest, IsWholeAlsoWhenStoppedAtOnce) {
  std::stop_source stop;
  stop.request_stop();
  const ReshardProblem problem =
      RandomTasks(1, {.tasks = 300, .max_bytes = 1000});
  const Instance instance = MakeInstance(problem);
  const Order order = LargestFirst(instance, 1, {.stop = stop.get_token()});
  const auto timing = Replay(problem, ToSchedule(problem, instance, order));
  ASSERT_TRUE(timing.ok()) << timing.status();
  EXPECT_LT(ComputeMakespan(instance, LargestFirst(instance, 1, {})),
            timing->makespan);
}

}  // namespace
}  // namespace meshwright::reshard
