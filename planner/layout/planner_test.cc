#include "planner/layout/planner.h"

#include <gtest/gtest.h>

#include <limits>
#include <thread>
#include <vector>

#include "planner/layout/cheapest_path.h"
#include "planner/layout/measured_links.h"
#include "planner/layout/testing/random_layout.h"

namespace meshwright::layout {
namespace {

LayoutProblem Problem() {
  LayoutProblem problem;
  problem.shape = {16, 16};
  problem.elem_bytes = 4;
  problem.mesh = {2, 4};
  problem.links = *AlphaBetaLinks::Create({1e-6, 2e-6}, {1e-9, 2e-9});
  problem.source = {{0}, {1}};
  problem.target = {{1}, {0}};
  return problem;
}

TEST(LayoutPlannerTest, EqualContentIsSearchedOnce) {
  LayoutPlanner planner;
  const auto first = planner.Convert(Problem());
  const auto second = planner.Convert(Problem());  // links made again
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(planner.entries(), 1);
  EXPECT_EQ((*first)->path->time, FindCheapestPath(Problem())->path->time);
}

TEST(LayoutPlannerTest, EveryFieldIsContent) {
  std::vector<LayoutProblem> problems(7, Problem());
  problems[1].shape = {16, 32};
  problems[2].elem_bytes = 2;
  problems[3].mesh = {4, 2};
  problems[4].links = *AlphaBetaLinks::Create({1e-6, 2e-6}, {1e-9, 3e-9});
  problems[5].source = {{0, 1}, {}};
  problems[6].target = {{1, 0}, {}};
  LayoutPlanner planner;
  for (const LayoutProblem& problem : problems) {
    ASSERT_TRUE(planner.Convert(problem).ok());
  }
  EXPECT_EQ(planner.entries(), problems.size());
}

TEST(LayoutPlannerTest, BadProblemsAreErrorsAndNotKept) {
  LayoutPlanner planner;
  LayoutProblem problem = Problem();
  problem.source = {{0}, {0}};
  EXPECT_EQ(planner.Convert(problem).status().code(),
            absl::StatusCode::kInvalidArgument);
  problem = Problem();
  problem.links = nullptr;
  EXPECT_EQ(planner.Convert(problem).status().code(),
            absl::StatusCode::kInvalidArgument);
  problem.links = *AlphaBetaLinks::Create({1e-6}, {1e-9});
  EXPECT_EQ(planner.Convert(problem).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(planner.entries(), 0);
}

TEST(LayoutPlannerTest, WhatIsNotProvedIsNotKept) {
  LayoutPlanner planner;
  std::stop_source stop;
  stop.request_stop();
  SearchOptions options;
  options.deadline.stop = stop.get_token();
  const auto stopped = planner.Convert(Problem(), options);
  ASSERT_TRUE(stopped.ok());
  EXPECT_LT((*stopped)->lower_bound, (*stopped)->path->time);
  EXPECT_EQ(planner.entries(), 0);
}

TEST(LayoutPlannerTest, ThreadsGetTheAnswerOfOne) {
  LayoutPlanner planner;
  std::vector<std::thread> threads;
  std::vector<int64_t> sums(4, 0);
  for (int64_t& sum : sums) {
    threads.emplace_back([&planner, &sum] {
      for (int seed = 0; seed < 200; ++seed) {
        const auto conversion =
            planner.Convert(MakeRandomLayout(seed % 50, {.axes = 2}).problem);
        if (conversion.ok() && (*conversion)->path.has_value()) {
          sum += (*conversion)->path->time.count();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int64_t sum : sums) EXPECT_EQ(sum, sums[0]);
  EXPECT_GT(sums[0], 0);
}

TEST(AlphaBetaLinksTest, RefusesWhatIsNoTime) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const auto message = [](std::vector<double> alpha, std::vector<double> beta) {
    return std::string(AlphaBetaLinks::Create(std::move(alpha), std::move(beta))
                           .status()
                           .message());
  };
  EXPECT_EQ(message({0, nan}, {0, 0}),
            "alpha[1] is not a number; give a time that is finite and at "
            "least 0");
  EXPECT_TRUE(message({infinity}, {0}).starts_with("alpha[0] is infinite"));
  EXPECT_TRUE(message({0}, {-1}).starts_with("beta[0] is negative"));
  EXPECT_TRUE(message({0}, {0, 0}).starts_with("alpha has 1 figures"));
}

std::vector<LinkTiming> Timings() {
  return {{Op::kAllGather, 0, 100, 1e-6},
          {Op::kAllGather, 0, 300, 3e-6},
          {Op::kAllGather, 0, 200, 0.5e-6},  // noise
          {Op::kAllToAll, 0, 100, 1e-6},
          {Op::kCollectivePermute, 0, 100, 1e-6},
          {Op::kAllGather, 1, 100, 1e-6},
          {Op::kAllToAll, 1, 100, 1e-6},
          {Op::kCollectivePermute, 1, 100, 4e-6}};
}

TEST(MeasuredLinksTest, ReadsBetweenAndBeyondTheRows) {
  const auto links = MeasuredLinks::Create({2, 2}, Timings());
  ASSERT_TRUE(links.ok()) << links.status();
  const auto gather = [&](int64_t bytes) {
    return (*links)->Seconds(Op::kAllGather, 1, 2, bytes);
  };
  EXPECT_DOUBLE_EQ(gather(1), 1e-6);
  EXPECT_DOUBLE_EQ(gather(100), 1e-6);
  EXPECT_DOUBLE_EQ(gather(200), 1e-6);
  EXPECT_DOUBLE_EQ(gather(250), 2e-6);
  EXPECT_DOUBLE_EQ(gather(600), 6e-6);
  EXPECT_DOUBLE_EQ((*links)->Seconds(Op::kCollectivePermute, 3, 4, 50), 4e-6);
}

TEST(MeasuredLinksTest, RefusesGapsAndNonsense) {
  const auto message = [](const LinkTiming& row) {
    std::vector<LinkTiming> rows = Timings();
    rows.push_back(row);
    return std::string(MeasuredLinks::Create({2, 2}, rows).status().message());
  };
  EXPECT_TRUE(message({Op::kSlice, 0, 1, 0}).starts_with("links[8].op"));
  EXPECT_TRUE(message({Op::kAllGather, 2, 1, 0}).starts_with("links[8].axis"));
  EXPECT_TRUE(message({Op::kAllGather, 0, 0, 0}).starts_with("links[8].bytes"));
  EXPECT_TRUE(
      message({Op::kAllGather, 0, 1, -1}).starts_with("links[8].seconds"));
  EXPECT_EQ(MeasuredLinks::Create({2, 2, 2}, Timings()).status().message(),
            "links has no row of all-gather along axis 2; time it with at "
            "least one size");
  EXPECT_TRUE(MeasuredLinks::Create({2, 2, 1}, Timings()).ok());
}

// The order of rows and the noise that was raised away are not content.
TEST(MeasuredLinksTest, EqualCurvesHaveEqualContent) {
  std::vector<LinkTiming> rows = Timings();
  std::reverse(rows.begin(), rows.end());
  EXPECT_EQ((*MeasuredLinks::Create({2, 2}, rows))->content(),
            (*MeasuredLinks::Create({2, 2}, Timings()))->content());
  rows[0].seconds = 5e-6;
  EXPECT_NE((*MeasuredLinks::Create({2, 2}, rows))->content(),
            (*MeasuredLinks::Create({2, 2}, Timings()))->content());
}

}  // namespace
}  // namespace meshwright::layout
