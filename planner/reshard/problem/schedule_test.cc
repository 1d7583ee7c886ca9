#include "planner/reshard/problem/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "planner/reshard/problem/instance.h"
#include "planner/reshard/problem/validate.h"
#include "planner/reshard/testing/random_reshard.h"

namespace meshwright::reshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// a: s0 or s1 to d0 · b: s0 to d1 · c: s1 to d0 and d1
ReshardProblem Three() {
  ReshardProblem problem{.bandwidth_bytes_per_s = 10};
  for (const char* name : {"s0", "s1", "d0", "d1"}) {
    problem.hosts.push_back({.name = name});
  }
  problem.tasks = {
      {"a", 30, {0, 1}, {2}}, {"b", 20, {0}, {3}}, {"c", 10, {1}, {2, 3}}};
  return problem;
}

TEST(ReplayTest, StartsWhenAllPortsAreFree) {
  const auto timing = Replay(Three(), {{0, 1, 30}, {1, 0, 20}, {2, 1, 10}});
  ASSERT_TRUE(timing.ok()) << timing.status();
  EXPECT_THAT(timing->start, ElementsAre(0, 0, 30));
  EXPECT_EQ(timing->makespan, 40);
  // The same order with one sender for both.
  EXPECT_EQ(Replay(Three(), {{0, 0, 30}, {1, 0, 20}, {2, 1, 10}})->makespan,
            60);
}

TEST(ReplayTest, SendAndReceivePortsAreApart) {
  ReshardProblem problem = Three();
  problem.tasks = {{"a", 30, {0}, {1}}, {"b", 30, {1}, {0}}};
  EXPECT_EQ(Replay(problem, {{0, 0, 30}, {1, 1, 30}})->makespan, 30);
}

TEST(ReplayTest, LinksCarryOneTaskEach) {
  ReshardProblem problem = Three();
  problem.hosts[0].out_links = 2;
  problem.tasks = {
      {"a", 30, {0}, {2}}, {"b", 20, {0}, {3}}, {"c", 5, {0}, {1}}};
  const auto timing = Replay(problem, {{0, 0, 30}, {1, 0, 20}, {2, 0, 5}});
  EXPECT_THAT(timing->start, ElementsAre(0, 0, 20));
}

TEST(ReplayTest, TheSlowestOnTheWayCounts) {
  ReshardProblem problem = Three();
  problem.hosts[2].in_bytes_per_s = 5;
  EXPECT_EQ(
      Durations(problem).Seconds(
          Replay(problem, {{0, 1, 30}, {1, 0, 20}, {2, 1, 10}})->makespan),
      8);
  problem.routes = {{1, 2, 2}};
  EXPECT_EQ(
      Durations(problem).Seconds(
          Replay(problem, {{0, 1, 30}, {1, 0, 20}, {2, 1, 10}})->makespan),
      20);
}

TEST(ReplayTest, WhatNeedsNoSendingTakesNoTime) {
  ReshardProblem problem = Three();
  problem.tasks.push_back({"here", 1000, {0}, {}});
  EXPECT_EQ(Replay(problem, {{3, 0, 1000}, {0, 1, 30}, {1, 0, 20}, {2, 1, 10}})
                ->makespan,
            40);
}

TEST(ReplayTest, RefusesSchedulesOfOtherProblems) {
  const auto message = [](const Schedule& schedule) {
    return std::string(Replay(Three(), schedule).status().message());
  };
  EXPECT_THAT(message({{0, 1, 30}, {1, 0, 20}}), HasSubstr("c is not sent"));
  EXPECT_THAT(message({{0, 1, 30}, {1, 1, 20}, {2, 1, 10}}),
              HasSubstr("b is sent by a host that does not hold it"));
  EXPECT_THAT(message({{0, 1, 10}, {0, 0, 20}, {1, 0, 20}, {2, 1, 10}}),
              HasSubstr("a is split"));
  EXPECT_THAT(message({{0, 1, 30}, {1, 0, 20}, {2, 1, 10}, {2, 1, 10}}),
              HasSubstr("c is sent with 10 bytes of 10 after 10"));
  EXPECT_THAT(message({{3, 1, 30}}), HasSubstr("task 3"));
  ReshardProblem split = Three();
  split.split = true;
  EXPECT_TRUE(
      Replay(split, {{0, 1, 10}, {0, 0, 20}, {1, 0, 20}, {2, 1, 10}}).ok());
  EXPECT_FALSE(
      Replay(split, {{0, 1, 10}, {0, 1, 20}, {1, 0, 20}, {2, 1, 10}}).ok());
}

// The solvers' own timing is that of Replay.
TEST(ReplayTest, AgreesWithTheInstance) {
  std::mt19937_64 random(20261122);
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const ReshardProblem problem = RandomTasks(
        seed, {.tasks = 9, .speeds = seed % 2 == 1, .links = seed % 3 == 0});
    const Instance instance = MakeInstance(problem);
    Order order;
    for (int i = 0; i < instance.size(); ++i) {
      order.push_back(
          {i, static_cast<int>(random() % instance.jobs[i].choices.size())});
    }
    std::shuffle(order.begin(), order.end(), random);
    const auto timing = Replay(problem, ToSchedule(problem, instance, order));
    ASSERT_TRUE(timing.ok()) << timing.status();
    EXPECT_EQ(timing->makespan, ComputeMakespan(instance, order)) << seed;
  }
}

TEST(ValidateTest, NamesWhatIsWrong) {
  const auto message = [](auto change) {
    ReshardProblem problem = Three();
    change(problem);
    const absl::Status status = Validate(problem);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_TRUE(Validate(Three()).ok());
  EXPECT_THAT(message([](auto& p) { p.tasks[1].id = "a"; }),
              HasSubstr("two tasks have the id a"));
  EXPECT_THAT(message([](auto& p) { p.tasks[1].size_bytes = 0; }),
              HasSubstr("task b: size_bytes is 0; leave out"));
  EXPECT_THAT(message([](auto& p) { p.tasks[1].senders.clear(); }),
              HasSubstr("task b: sender_hosts is empty"));
  EXPECT_THAT(message([](auto& p) {
                p.tasks[2].receivers = {2, 2};
              }),
              HasSubstr("task c: receiver_hosts names \"d0\" twice"));
  EXPECT_THAT(message([](auto& p) { p.bandwidth_bytes_per_s = 0; }),
              HasSubstr("bandwidth_bytes_per_s is 0"));
  EXPECT_THAT(message([](auto& p) { p.hosts[3].in_bytes_per_s = 0; }),
              HasSubstr("task b: no sender host reaches \"d1\""));
  EXPECT_THAT(message([](auto& p) { p.hosts[0].out_bytes_per_s = -1; }),
              HasSubstr("hosts.s0.out_bytes_per_s is -1"));
  EXPECT_THAT(message([](auto& p) { p.hosts[0].out_links = 0; }),
              HasSubstr("hosts.s0.out_links is 0"));
  EXPECT_THAT(message([](auto& p) { p.hosts[1].name = "s0"; }),
              HasSubstr("host \"s0\" is listed twice"));
  EXPECT_THAT(message([](auto& p) {
                p.routes = {{0, 2, 0}, {1, 3, 0}};
                p.tasks[2].senders = {0, 1};
              }),
              HasSubstr("task c: no sender host reaches all"));
  EXPECT_THAT(message([](auto& p) {
                p.tasks[0].size_bytes = p.tasks[1].size_bytes = kMaxBytes / 2;
              }),
              HasSubstr("2^62 bytes together"));
  EXPECT_THAT(message([](auto& p) { p.hosts[3].in_bytes_per_s = 1e-300; }),
              HasSubstr("one after another"));
}

}  // namespace
}  // namespace meshwright::reshard
