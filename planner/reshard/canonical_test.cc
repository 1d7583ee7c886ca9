#include "planner/reshard/canonical.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "absl/strings/str_cat.h"
#include "planner/reshard/problem/validate.h"
#include "planner/reshard/solve.h"
#include "planner/reshard/testing/random_reshard.h"

namespace meshwright::reshard {
namespace {

std::vector<int> Shuffled(size_t size, std::mt19937_64& random) {
  std::vector<int> order(size);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

// The same problem: other names, another order of everything.
ReshardProblem Disguised(const ReshardProblem& problem, uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::vector<int> to = Shuffled(problem.hosts.size(), random);
  ReshardProblem other = problem;
  for (size_t i = 0; i < to.size(); ++i) {
    other.hosts[to[i]] = problem.hosts[i];
    other.hosts[to[i]].name = absl::StrCat("host ", random());
  }
  for (Route& route : other.routes) {
    route.from = to[route.from];
    route.to = to[route.to];
  }
  std::shuffle(other.routes.begin(), other.routes.end(), random);
  const std::vector<int> order = Shuffled(problem.tasks.size(), random);
  for (size_t i = 0; i < order.size(); ++i) {
    UnitTask& task = other.tasks[i] = problem.tasks[order[i]];
    task.id = absl::StrCat("task ", random());
    for (auto* hosts : {&task.senders, &task.receivers}) {
      for (int& host : *hosts) host = to[host];
      std::shuffle(hosts->begin(), hosts->end(), random);
    }
  }
  return other;
}

Kind KindOf(uint64_t seed) {
  return {.tasks = static_cast<int>(2 + seed % 12),
          .sender_hosts = 3,
          .receiver_hosts = 4,
          .most_bytes = seed % 3 == 0 ? 2 : 1 << 20,
          .even_sizes = seed % 5 == 0,
          .speeds = seed % 2 == 0,
          .links = seed % 4 == 0};
}

TEST(CanonicalTest, NamesAndOrderDoNotMatter) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const ReshardProblem problem = RandomTasks(seed, KindOf(seed));
    EXPECT_EQ(ContentOf(Canonicalize(problem)),
              ContentOf(Canonicalize(Disguised(problem, seed))))
        << seed;
  }
}

TEST(CanonicalTest, ASymmetricTensorIsKnownUnderOtherNames) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const auto units = Decompose(RandomResharding(seed));
    if (!units.ok()) continue;
    const ReshardProblem problem = ToProblem(*units, 1e9);
    EXPECT_EQ(ContentOf(Canonicalize(problem)),
              ContentOf(Canonicalize(Disguised(problem, seed))))
        << seed;
  }
}

TEST(CanonicalTest, ASchedulesTimesAreThoseOfTheOriginal) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const ReshardProblem problem = RandomTasks(seed, KindOf(seed));
    const Canonical canonical = Canonicalize(problem);
    ASSERT_TRUE(Validate(canonical.problem).ok());
    const auto answer = Solve(canonical.problem, {.solver = Solver::kNaive});
    ASSERT_TRUE(answer.ok()) << answer.status();
    const auto timing = Replay(problem, Translate(canonical, answer->schedule));
    ASSERT_TRUE(timing.ok()) << timing.status();
    EXPECT_EQ(timing->start, answer->timing.start) << seed;
    EXPECT_EQ(timing->end, answer->timing.end) << seed;
  }
}

// Everything that can change an answer changes the content.
TEST(CanonicalTest, WhatMattersIsInTheContent) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Kind kind = KindOf(seed);
    kind.speeds = true;
    const ReshardProblem problem = RandomTasks(seed, kind);
    std::vector<ReshardProblem> changed(6, problem);
    ++changed[0].tasks[0].size_bytes;
    changed[1].split = !problem.split;
    ++changed[2].hosts[problem.tasks[0].senders[0]].out_links;
    changed[3].hosts[problem.tasks[0].receivers[0]].in_bytes_per_s = 1.5;
    changed[4].tasks.push_back(problem.tasks[0]);
    changed[5].routes.push_back(
        {problem.tasks[0].senders[0], problem.tasks[0].receivers[0], 0.25});
    const std::string content = ContentOf(Canonicalize(problem));
    for (size_t i = 0; i < changed.size(); ++i) {
      EXPECT_NE(ContentOf(Canonicalize(changed[i])), content)
          << "seed " << seed << ", change " << i;
    }
  }
}

ReshardProblem Two(double bandwidth) {
  return {.bandwidth_bytes_per_s = bandwidth,
          .hosts = {{.name = "a"}, {.name = "b"}, {.name = "c"}},
          .tasks = {{"x", 3, {0}, {1, 2}}, {"y", 5, {1}, {0}}}};
}

TEST(CanonicalTest, WhatSaysNothingIsLeftOut) {
  const std::string content = ContentOf(Canonicalize(Two(100)));
  EXPECT_EQ(ContentOf(Canonicalize(Two(7))), content);
  ReshardProblem wordy = Two(100);
  wordy.hosts[0].out_bytes_per_s = 100;
  wordy.routes = {{0, 1, 100}, {0, 2, 300}};
  EXPECT_EQ(ContentOf(Canonicalize(wordy)), content);
  wordy.routes = {{0, 1, 50}, {0, 1, 20}};
  EXPECT_NE(ContentOf(Canonicalize(wordy)), content);
  ReshardProblem once = Two(100);
  once.routes = {{0, 1, 20}};
  EXPECT_EQ(ContentOf(Canonicalize(wordy)), ContentOf(Canonicalize(once)));
}

TEST(CanonicalTest, NoTasksAreAProblemToo) {
  const ReshardProblem empty{.bandwidth_bytes_per_s = 1};
  EXPECT_EQ(ContentOf(Canonicalize(empty)), ContentOf(Canonicalize(empty)));
}

}  // namespace
}  // namespace meshwright::reshard
