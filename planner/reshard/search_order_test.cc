#include "planner/reshard/search_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "planner/reshard/bounds/balance_bound.h"
#include "planner/reshard/bounds/bounds.h"
#include "planner/reshard/bounds/clique.h"
#include "planner/reshard/exact/branch_and_bound.h"
#include "planner/reshard/heuristics/balance_senders.h"
#include "planner/reshard/heuristics/fullest_first.h"
#include "planner/reshard/paper/paper_solvers.h"
#include "planner/reshard/testing/exhaustive.h"
#include "planner/reshard/testing/random_reshard.h"

namespace meshwright::reshard {
namespace {

// Small problems of every sort.
ReshardProblem Small(uint64_t seed) {
  Kind kind{.tasks = 3 + static_cast<int>(seed % 3),
            .sender_hosts = 2 + static_cast<int>(seed / 3 % 2),
            .receiver_hosts = 2 + static_cast<int>(seed / 6 % 4),
            .max_bytes = seed % 7 == 0 ? 1000 : 6,
            .speeds = seed % 5 == 1,
            .links = seed % 4 == 2};
  return RandomTasks(seed, kind);
}

// Each job once, with one of its choices.
bool IsWhole(const Instance& instance, const Order& order) {
  std::vector<int> seen(instance.size(), 0);
  for (const auto& [job, choice] : order) {
    if (choice < 0 ||
        choice >= static_cast<int>(instance.jobs[job].choices.size())) {
      return false;
    }
    ++seen[job];
  }
  return std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; });
}

TEST(SearchOrderTest, SmallProblemsAreSolvedAndProved) {
  int beyond_ports = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    const ReshardProblem problem = Small(seed);
    const Instance instance = MakeInstance(problem);
    const Ticks min_makespan = MinimumMakespan(problem);
    const Found found = SearchOrder(instance, 1, {});
    ASSERT_TRUE(IsWhole(instance, found.order));
    EXPECT_EQ(found.makespan, min_makespan);
    EXPECT_EQ(found.lower_bound, min_makespan);
    EXPECT_EQ(
        Replay(problem, ToSchedule(problem, instance, found.order))->makespan,
        min_makespan);
    beyond_ports += std::max(ComputeReceiverBound(instance),
                             ComputeSenderBound(instance)) < min_makespan;
  }
  EXPECT_GT(beyond_ports, 300);
}

// Without a good start and without bounds from outside.
TEST(BranchAndBoundTest, FindsTheLeastFromTheWorstStart) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    const ReshardProblem problem = Small(seed);
    const Instance instance = MakeInstance(problem);
    const Bounded bounded = BranchAndBound(instance, ScheduleNaively(instance),
                                           0, {}, 1'000'000, {});
    ASSERT_TRUE(bounded.complete);
    ASSERT_TRUE(IsWhole(instance, bounded.order));
    EXPECT_EQ(ComputeMakespan(instance, bounded.order),
              MinimumMakespan(problem));
  }
}

TEST(BoundsTest, NoneIsAboveTheLeast) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    const ReshardProblem problem = Small(seed);
    const Instance instance = MakeInstance(problem);
    const Ticks min_makespan = MinimumMakespan(problem);
    EXPECT_LE(ComputeReceiverBound(instance), min_makespan);
    EXPECT_LE(ComputeSenderBound(instance), min_makespan);
    EXPECT_LE(FindHeaviestClique(instance, 1000, {}).ticks, min_makespan);
    const std::vector<std::vector<int>> cliques = {
        FindHeaviestClique(instance, 1000, {}).jobs};
    EXPECT_LE(ComputeBalanceBound(instance, {.nodes = 100000}, cliques, {}),
              min_makespan);
    EXPECT_LE(ComputePackingBound(instance, {.nodes = 100000}, {}),
              min_makespan);
    // Whatever is known, none is above it or below the floor.
    const Within within = {min_makespan / 2, min_makespan,
                           1 + static_cast<int64_t>(seed)};
    for (const Ticks bound :
         {ComputeBalanceBound(instance, within, cliques, {}),
          ComputePackingBound(instance, within, {})}) {
      EXPECT_LE(bound, min_makespan);
      EXPECT_GE(bound, within.floor);
    }
    EXPECT_EQ(min_makespan % FindGrid(instance), 0);
  }
}

// Three tasks, each pair shares another receiver: 3 on ports that carry 2.
TEST(BoundsTest, CliquesAreBeyondPorts) {
  ReshardProblem problem = RandomTasks(
      1, {.tasks = 3, .sender_hosts = 3, .max_bytes = 1, .even_sizes = true});
  problem.tasks[0].receivers = {3, 4};
  problem.tasks[1].receivers = {4, 5};
  problem.tasks[2].receivers = {3, 5};
  for (int i = 0; i < 3; ++i) problem.tasks[i].senders = {i};
  const Instance instance = MakeInstance(problem);
  EXPECT_EQ(ComputeReceiverBound(instance), 2);
  EXPECT_EQ(FindHeaviestClique(instance, 1000, {}).ticks, 3);
  EXPECT_EQ(MinimumMakespan(problem), 3);
}

// Five equal tasks that two senders hold: 3, not 2.5; of sizes 3 3 2 2 2, 6.
TEST(BoundsTest, BalanceIsWhole) {
  ReshardProblem problem = RandomTasks(1, {.tasks = 5, .receiver_hosts = 5});
  const int64_t sizes[] = {3, 3, 2, 2, 2};
  for (int i = 0; i < 5; ++i) {
    problem.tasks[i].senders = {0, 1};
    problem.tasks[i].receivers = {3 + i};
    problem.tasks[i].size_bytes = sizes[i];
  }
  Instance instance = MakeInstance(problem);
  EXPECT_EQ(ComputeSenderBound(instance), 6);
  EXPECT_EQ(ComputeBalanceBound(instance, {.nodes = 1000}, {}, {}), 6);
  // Longest first puts 3 2 2 on one of them.
  EXPECT_EQ(ComputeMakespan(instance, ScheduleByLoad(instance)), 7);
  EXPECT_EQ(SearchOrder(instance, 1, {}).makespan, 6);
  for (UnitTask& task : problem.tasks) task.size_bytes = 4;
  instance = MakeInstance(problem);
  EXPECT_EQ(ComputeSenderBound(instance), 10);
  EXPECT_EQ(ComputeBalanceBound(instance, {.nodes = 1000}, {}, {}), 12);
  // Nor do three of them fit the two links of one receiver in less than two.
  for (UnitTask& task : problem.tasks) task.receivers = {3};
  problem.tasks.resize(3);
  problem.hosts[0].out_links = 3;
  problem.hosts[3].in_links = 2;
  instance = MakeInstance(problem);
  EXPECT_EQ(ComputeReceiverBound(instance), 6);
  EXPECT_EQ(ComputePackingBound(instance, {.nodes = 1000}, {}), 8);
  EXPECT_EQ(ComputePackingBound(instance, {.ceiling = 7, .nodes = 1000}, {}),
            7);
  EXPECT_EQ(ComputePackingBound(instance, {.floor = 5, .nodes = 1}, {}), 5);
}

// A job from a slow sender keeps its receiver longer: 3 is what senders and
// receivers would take apart from each other.
TEST(BoundsTest, ASlowSenderCountsAtItsReceiver) {
  ReshardProblem problem = RandomTasks(1, {.tasks = 4});
  problem.bandwidth_bytes_per_s = 4;
  problem.hosts[1].out_bytes_per_s = 2;
  const struct {
    int64_t bytes;
    std::vector<int> senders;
    int receiver;
  } tasks[] = {{8, {0}, 4}, {4, {0, 1}, 3}, {4, {0, 1}, 3}, {4, {2}, 3}};
  for (int i = 0; i < 4; ++i) {
    problem.tasks[i].size_bytes = tasks[i].bytes;
    problem.tasks[i].senders = tasks[i].senders;
    problem.tasks[i].receivers = {tasks[i].receiver};
  }
  const Instance instance = MakeInstance(problem);
  const Ticks apart = ComputeReceiverBound(instance);
  EXPECT_LE(ComputeSenderBound(instance), apart);
  const Ticks bound = ComputeBalanceBound(instance, {.nodes = 1000}, {}, {});
  EXPECT_EQ(bound, MinimumMakespan(problem));
  EXPECT_EQ(bound * 3, apart * 4);
}

TEST(PaperSolversTest, AreSchedulesAndNeverBetter) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const ReshardProblem problem =
        RandomTasks(seed, {.tasks = 4 + static_cast<int>(seed),
                           .sender_hosts = 5,
                           .receiver_hosts = 6,
                           .max_bytes = 50,
                           .speeds = seed % 3 == 1,
                           .links = seed % 4 == 1});
    const Instance instance = MakeInstance(problem);
    const Found found = SearchOrder(instance, 1, {});
    for (const Order& order :
         {ScheduleNaively(instance), ScheduleByLoad(instance),
          SearchDepthFirst(instance, 20'000, {}).order,
          ScheduleRandomly(instance, 1, kRandomizedDraws, {}),
          OrderFullestFirst(instance, BalanceSenders(instance, 0, {}))}) {
      ASSERT_TRUE(IsWhole(instance, order));
      EXPECT_LE(found.makespan, ComputeMakespan(instance, order));
      EXPECT_LE(found.lower_bound, ComputeMakespan(instance, order));
    }
  }
}

TEST(PaperSolversTest, DepthFirstIsExactWhenItEnds) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const ReshardProblem problem = Small(seed);
    const Instance instance = MakeInstance(problem);
    const Searched searched = SearchDepthFirst(instance, 10'000'000, {});
    EXPECT_TRUE(searched.complete);
    EXPECT_EQ(ComputeMakespan(instance, searched.order),
              MinimumMakespan(problem))
        << seed;
  }
}

TEST(SearchOrderTest, TheSameSeedGivesTheSameOrder) {
  const Instance instance = MakeInstance(RandomTasks(3, {.tasks = 40,
                                                         .sender_hosts = 5,
                                                         .receiver_hosts = 9,
                                                         .max_receivers = 4,
                                                         .max_bytes = 1000}));
  const Found a = SearchOrder(instance, 7, {});
  const Found b = SearchOrder(instance, 7, {});
  ASSERT_EQ(a.order.size(), b.order.size());
  for (size_t i = 0; i < a.order.size(); ++i) {
    EXPECT_EQ(a.order[i].job, b.order[i].job);
    EXPECT_EQ(a.order[i].choice, b.order[i].choice);
  }
}

TEST(SearchOrderTest, StoppedAtOnceStillAnswers) {
  const Instance instance = MakeInstance(RandomTasks(3, {.tasks = 200,
                                                         .sender_hosts = 9,
                                                         .receiver_hosts = 9,
                                                         .max_receivers = 4,
                                                         .max_bytes = 1000}));
  std::stop_source stop;
  stop.request_stop();
  const Found found = SearchOrder(instance, 7, {.stop = stop.get_token()});
  EXPECT_TRUE(IsWhole(instance, found.order));
  EXPECT_LE(found.lower_bound, found.makespan);
}

// What the fullest sender sends.
Ticks FindFullest(const Instance& instance, const std::vector<int>& choices) {
  std::vector<Ticks> load(instance.outs(), 0);
  for (int job = 0; job < instance.size(); ++job) {
    const Choice& sender = instance.jobs[job].choices[choices[job]];
    load[sender.out] += sender.ticks;
  }
  return *std::max_element(load.begin(), load.end());
}

// Two senders hold all tasks: 1,200 large ones, of which no swap helps, and
// five small ones. Longest first, these are 3 + 2 + 2 and 3 + 2; the swap of a
// 3 with a 2 comes behind some 700,000 others.
TEST(BalanceSendersTest, EndsByItsDeadlineAndByItsTries) {
  ReshardProblem problem{.bandwidth_bytes_per_s = 1};
  for (const char* name : {"s0", "s1", "d0"}) {
    problem.hosts.push_back({.name = name});
  }
  std::vector<int64_t> sizes(1200, 10);
  for (const int64_t size : {3, 3, 2, 2, 2}) sizes.push_back(size);
  for (const int64_t size : sizes) {
    problem.tasks.push_back(
        {std::to_string(problem.tasks.size()), size, {0, 1}, {2}});
  }
  const Instance instance = MakeInstance(problem);
  const auto balance = [&](const base::Deadline& deadline, int64_t tries) {
    return FindFullest(instance, BalanceSenders(instance, 0, deadline, tries));
  };
  base::Deadline past;
  past.at = std::chrono::steady_clock::time_point::min();
  const Ticks started = balance({}, 0);
  EXPECT_LT(balance({}, kMaxBalanceTries), started);
  EXPECT_EQ(balance(past, kMaxBalanceTries), started);
  EXPECT_EQ(balance({}, 10'000), started);
}

}  // namespace
}  // namespace meshwright::reshard
