#include "worker/timing/round_robin.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace meshwright::worker::timing {
namespace {

using Times = std::function<absl::Duration(int program, int run)>;

// Every execution of the present turn takes as long.
void Execute(RoundRobin& rounds, absl::Duration wall) {
  const auto run = [&](int) { return Sample{wall, wall}; };
  EXPECT_TRUE(rounds.Execute(run).ok());
}

struct Trace {
  std::string programs;      // one letter per turn
  std::vector<int> samples;  // per program
  std::vector<std::set<int>> sets;
};

Trace Drive(RoundRobin& rounds, int programs, const Times& times) {
  Trace trace;
  trace.samples.resize(programs);
  trace.sets.resize(programs);
  std::vector<int> runs(programs, 0);
  while (const auto turn = rounds.Next()) {
    if (!turn->warm_up)
      trace.programs += static_cast<char>('a' + turn->program);
    Execute(rounds, times(turn->program, runs[turn->program]++));
    if (!turn->warm_up) ++trace.samples[turn->program];
    trace.sets[turn->program].insert(turn->buffer_set);
  }
  return trace;
}

// As few samples as the other rules allow.
Protocol Brief() {
  Protocol protocol;
  protocol.minimum_time = absl::ZeroDuration();
  return protocol;
}

Times Constant(std::vector<int> milliseconds) {
  return [=](int program, int) {
    return absl::Milliseconds(milliseconds[program]);
  };
}

TEST(RoundRobinTest, ProgramsTakeTurnsInChangingOrder) {
  RoundRobin rounds(Brief(), {1, 1, 1});
  const Trace trace = Drive(rounds, 3, Constant({10, 20, 30}));
  EXPECT_EQ(trace.programs.substr(0, 12), "abcacbcabcba");
  EXPECT_EQ(trace.samples, (std::vector<int>{12, 12, 12}));
  EXPECT_EQ(rounds.passes(0), 12);
  EXPECT_EQ(rounds.Summarize(2).minimum, absl::Milliseconds(30));
}

TEST(RoundRobinTest, BufferSetsRotate) {
  RoundRobin rounds(Brief(), {1, 3});
  const Trace trace = Drive(rounds, 2, Constant({10, 20}));
  EXPECT_EQ(trace.sets[0], std::set<int>({0}));
  EXPECT_EQ(trace.sets[1], std::set<int>({0, 1, 2}));
}

TEST(RoundRobinTest, ATurnWarmsUpOnOtherBuffersThanItIsSampledOn) {
  RoundRobin rounds(Brief(), {3, 1});
  std::set<int> sampled;
  int last = -1;
  for (int run = 0; run < 12; ++run) {
    const auto it = rounds.Next();
    ASSERT_TRUE(it.has_value());
    EXPECT_EQ(it->warm_up, run % 2 == 0);
    EXPECT_EQ(it->program, run / 2 % 2);
    if (it->program == 0) {
      EXPECT_NE(it->buffer_set, last);
      last = it->buffer_set;
      if (!it->warm_up) sampled.insert(it->buffer_set);
    }
    Execute(rounds, absl::Milliseconds(10));
  }
  EXPECT_EQ(sampled, std::set<int>({0, 1, 2}));
}

TEST(RoundRobinTest, AnUnsureMedianIsMeasuredOn) {
  // Two of three samples lie 4 % from their median: its error is
  // 1.858 * 4 / sqrt(n) percent, and below 1.5 % from the 25th on.
  RoundRobin rounds(Brief(), {1});
  const Trace trace = Drive(rounds, 1, [](int, int run) {
    return absl::Milliseconds(96 + 4 * (run / 2 % 3));  // a warm-up before each
  });
  EXPECT_EQ(trace.samples[0], 25);
}

TEST(RoundRobinTest, TheMostSamplesIsAnEnd) {
  Protocol protocol = Brief();
  protocol.maximum_samples = 20;
  RoundRobin rounds(protocol, {1});
  // Ever faster: no median is ever sure.
  const Trace trace = Drive(
      rounds, 1, [](int, int run) { return absl::Seconds(1) / (1 + run); });
  EXPECT_EQ(trace.samples[0], 20);
}

TEST(RoundRobinTest, ShortProgramsAreSampledForTheMinimumTime) {
  Protocol protocol;
  protocol.minimum_time = absl::Milliseconds(160);
  RoundRobin rounds(protocol, {1, 1});
  const Trace trace = Drive(rounds, 2, Constant({1, 40}));
  // Warm-ups count as time. No end at 60 samples.
  EXPECT_EQ(trace.samples, (std::vector<int>{80, 12}));
  EXPECT_EQ(rounds.passes(0), 80);
}

TEST(RoundRobinTest, TheShortestProgramsAreSampledAThousandTimes) {
  Protocol protocol;
  protocol.minimum_sample = absl::ZeroDuration();
  RoundRobin rounds(protocol, {1});
  const Trace trace =
      Drive(rounds, 1, [](int, int) { return absl::Microseconds(10); });
  EXPECT_EQ(trace.samples[0], 1000);
}

TEST(RoundRobinTest, TheTimeBudgetIsAnEnd) {
  Protocol protocol = Brief();
  protocol.time_limit = absl::Seconds(1);
  RoundRobin rounds(protocol, {1, 1});
  const Trace trace = Drive(rounds, 2, Constant({300, 10}));
  EXPECT_EQ(trace.samples[0], 2);
  EXPECT_EQ(trace.samples[1], 12);
}

TEST(RoundRobinTest, NothingIsSampledWhenWarmingUpTakesTheBudget) {
  Protocol protocol = Brief();
  protocol.time_limit = absl::Seconds(1);
  RoundRobin rounds(protocol, {1});
  const Trace trace = Drive(rounds, 1, Constant({2000}));
  EXPECT_EQ(trace.samples[0], 0);
  EXPECT_TRUE(rounds.Summarize(0).kept.empty());
}

TEST(RoundRobinTest, FarSlowerProgramsKeepTheirFirstPass) {
  Protocol protocol = Brief();
  protocol.dynamic_limit_ratio = 2;
  RoundRobin rounds(protocol, {1, 1});
  const Trace trace = Drive(rounds, 2, Constant({10, 30}));
  EXPECT_EQ(trace.samples, (std::vector<int>{12, 1}));
  EXPECT_EQ(rounds.passes(1), 1);
}

TEST(RoundRobinTest, NearTiesAreTimedAgainOnce) {
  RoundRobin rounds(Brief(), {1, 1, 1});
  const Trace trace = Drive(rounds, 3, [](int program, int) {
    return absl::Microseconds(std::vector<int>{10000, 10050, 20000}[program]);
  });
  EXPECT_EQ(trace.samples, (std::vector<int>{18, 18, 12}));
}

TEST(RoundRobinTest, AbandonedProgramsGetNoTurn) {
  RoundRobin rounds(Brief(), {1, 1});
  rounds.Abandon(0);
  const Trace trace = Drive(rounds, 2, Constant({10, 20}));
  EXPECT_EQ(trace.samples, (std::vector<int>{0, 12}));
}

TEST(RoundRobinTest, CompanionsRunAsLongAsTheOthers) {
  Protocol protocol;
  protocol.minimum_time = absl::Milliseconds(300);
  RoundRobin rounds(protocol, {1, 1, 1});
  rounds.Accompany(0);
  const Trace trace = Drive(rounds, 3, Constant({1, 10, 15}));
  EXPECT_EQ(trace.samples, (std::vector<int>{15, 15, 12}));
}

TEST(RoundRobinTest, ACompanionWithTheMostSamplesGoesOnBesideTheOthers) {
  Protocol protocol;
  protocol.minimum_time = absl::Seconds(2);
  RoundRobin rounds(protocol, {1, 1});
  rounds.Accompany(1);
  const Trace trace = Drive(rounds, 2, Constant({10, 50}));
  EXPECT_EQ(trace.samples, (std::vector<int>{100, 100}));
}

TEST(RoundRobinTest, ATurnThatFailsIsNotRecorded) {
  RoundRobin rounds(Brief(), {1});
  ASSERT_TRUE(rounds.Next().has_value());
  const auto fail = [](int) { return absl::InternalError("no"); };
  EXPECT_EQ(rounds.Execute(fail).message(), "no");
  EXPECT_EQ(rounds.passes(0), 0);
}

TEST(RoundRobinTest, CompanionsAloneEnd) {
  RoundRobin rounds(Brief(), {1, 1});
  rounds.Accompany(1);
  rounds.Abandon(0);
  EXPECT_EQ(Drive(rounds, 2, Constant({1, 1})).samples,
            (std::vector<int>{0, 1}));
}

TEST(RoundRobinTest, ACompanionThatTiesStartsNoFurtherPasses) {
  RoundRobin rounds(Brief(), {1, 1});
  rounds.Accompany(1);
  EXPECT_EQ(Drive(rounds, 2, Constant({10, 10})).samples,
            (std::vector<int>{12, 12}));
}

TEST(RoundRobinTest, TogetherAllTakeAsManySamples) {
  Protocol protocol;
  protocol.minimum_time = absl::Milliseconds(300);
  RoundRobin rounds(protocol, {1, 1, 1});
  rounds.EndTogether();
  rounds.Accompany(0);
  const Trace trace = Drive(rounds, 3, Constant({1, 10, 15}));
  EXPECT_EQ(trace.samples, (std::vector<int>{15, 15, 15}));
}

TEST(RoundRobinTest, TogetherNeedsNoFurtherPassesForTies) {
  RoundRobin rounds(Brief(), {1, 1});
  rounds.EndTogether();
  EXPECT_EQ(Drive(rounds, 2, Constant({10, 10})).samples,
            (std::vector<int>{12, 12}));
}

TEST(RoundRobinTest, TogetherAProgramThatFailsHoldsNobodyUp) {
  RoundRobin rounds(Brief(), {1, 1});
  rounds.EndTogether();
  rounds.Abandon(0);
  EXPECT_EQ(Drive(rounds, 2, Constant({10, 20})).samples,
            (std::vector<int>{0, 12}));
}

TEST(RoundRobinTest, ShortProgramsAreExecutedSeveralTimesASample) {
  Protocol protocol = Brief();
  protocol.minimum_samples = 3;
  protocol.maximum_samples = 3;
  RoundRobin rounds(protocol, {3});
  int samples = 0;
  std::vector<int> first_sets;
  while (const auto turn = rounds.Next()) {
    EXPECT_EQ(turn->executions, turn->warm_up ? 1 : 4);
    if (!turn->warm_up) {
      ++samples;
      first_sets.push_back(turn->buffer_set);
    }
    std::vector<int> sets;
    const auto run = [&](int set) {
      sets.push_back(set);
      return Sample{absl::Microseconds(250), absl::Microseconds(250)};
    };
    ASSERT_TRUE(rounds.Execute(run).ok());
    ASSERT_EQ(sets.size(), turn->executions) << "each of them runs";
    for (int i = 0; i < turn->executions; ++i) {
      EXPECT_EQ(sets[i], (turn->buffer_set + i) % 3);
    }
  }
  EXPECT_EQ(samples, 3);
  EXPECT_EQ(rounds.executions(0), 4);
  // Of one execution.
  EXPECT_EQ(rounds.Summarize(0).minimum, absl::Microseconds(250));
  // A warm-up run and four executions move five sets on.
  EXPECT_EQ(first_sets, (std::vector<int>{1, 0, 2}));
}

TEST(RoundRobinTest, AShortProgramMayBeExecutedFewTimesASample) {
  Protocol protocol = Brief();
  protocol.minimum_time = absl::Milliseconds(20);
  for (const int most : {1, 3}) {
    RoundRobin rounds(protocol, {1});
    rounds.ExecuteAtMost(0, most);
    while (const auto turn = rounds.Next()) {
      EXPECT_EQ(turn->executions, turn->warm_up ? 1 : most);
      Execute(rounds, absl::Microseconds(20));
    }
    EXPECT_EQ(rounds.executions(0), most);
    // Each counts as a millisecond of the twenty.
    EXPECT_EQ(rounds.passes(0), 20);
  }
}

// A program of 50 us behind a launch of 50 or 150 us.
TEST(RoundRobinTest, TheLaunchOfSeveralExecutionsIsTheirMean) {
  RoundRobin rounds(Brief(), {1, 1});
  rounds.ExecuteAtMost(0, 4);
  rounds.Accompany(1);
  rounds.ExecuteAtMost(1, 1);
  std::vector<int> runs(2, 0);
  while (const auto turn = rounds.Next()) {
    const auto run = [&](int) {
      const bool is_slow = !turn->warm_up && runs[turn->program]++ % 2 == 1;
      const absl::Duration wall = absl::Microseconds(
          (is_slow ? 150 : 50) + (turn->program == 0 ? 50 : 0));
      return Sample{wall, wall};
    };
    ASSERT_TRUE(rounds.Execute(run).ok());
  }
  ASSERT_EQ(rounds.executions(0), 4);
  const absl::Duration launch =
      FindLowOfMeans(rounds.Summarize(1).kept, rounds.executions(0));
  EXPECT_EQ(rounds.Summarize(0).low - launch, absl::Microseconds(50));
}

TEST(RoundRobinTest, TiesAreOfTheLowDecile) {
  RoundRobin rounds(Brief(), {1, 1});
  // Medians differ by 8 %; a third of the second's samples is as fast.
  const Trace trace = Drive(rounds, 2, [](int program, int run) {
    return absl::Microseconds(program == 0 || run % 6 == 1 ? 10000 : 10800);
  });
  EXPECT_EQ(trace.samples, (std::vector<int>{18, 18}));
}

TEST(RoundRobinTest, WhatTiesWithNoneIsFinishedBeforeTheOthers) {
  RoundRobin rounds(Brief(), {1, 1, 1});
  std::vector<int> finished;
  int turns_of_first = 0;
  const auto times = [](int program, int run) {
    // The first is content after its twelve samples; the others, a tie, are
    // sure of their median only later.
    if (program == 0) return absl::Milliseconds(10);
    return run < 40 ? absl::Milliseconds(40 - run / 2) : absl::Milliseconds(20);
  };
  std::vector<int> runs(3, 0);
  while (const auto turn = rounds.Next()) {
    if (turn->program == 0) {
      EXPECT_TRUE(finished.empty()) << "a finished program had a turn";
      ++turns_of_first;
    }
    Execute(rounds, times(turn->program, runs[turn->program]++));
    for (const int it : rounds.TakeFinished()) finished.push_back(it);
  }
  EXPECT_EQ(finished, std::vector<int>{0});
  EXPECT_EQ(turns_of_first, 24);
  EXPECT_GT(runs[1], 24);
}

TEST(RoundRobinTest, TogetherNoneIsFinishedEarly) {
  RoundRobin rounds(Brief(), {1, 1});
  rounds.EndTogether();
  Drive(rounds, 2, Constant({10, 500}));
  EXPECT_TRUE(rounds.TakeFinished().empty());
}

TEST(RoundRobinTest, NoProgramsNoTurns) {
  RoundRobin rounds(Brief(), {});
  EXPECT_FALSE(rounds.Next().has_value());
}

}  // namespace
}  // namespace meshwright::worker::timing
