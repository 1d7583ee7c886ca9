#include "planner/layout/cheapest_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/layout/bound.h"
#include "planner/layout/one_step.h"
#include "planner/layout/testing/exhaustive.h"
#include "planner/layout/testing/random_layout.h"
#include "planner/layout/validate.h"

namespace meshwright::layout {
namespace {

using testing::ElementsAre;

LayoutProblem Problem(std::vector<int64_t> shape, std::vector<int64_t> mesh,
                      Spec source, Spec target) {
  LayoutProblem problem;
  problem.shape = std::move(shape);
  problem.elem_bytes = 4;
  problem.links =
      *AlphaBetaLinks::Create(std::vector<double>(mesh.size(), 1e-6),
                              std::vector<double>(mesh.size(), 1e-9));
  problem.mesh = std::move(mesh);
  problem.source = std::move(source);
  problem.target = std::move(target);
  EXPECT_TRUE(Validate(problem).ok()) << Validate(problem);
  return problem;
}

Path FindPath(const LayoutProblem& problem) {
  const auto conversion = FindCheapestPath(problem);
  EXPECT_TRUE(conversion.ok()) << conversion.status();
  EXPECT_TRUE(conversion->path.has_value());
  return conversion->path.value_or(Path());
}

void ExpectOptimal(const RandomLayout& random, uint64_t seed) {
  SCOPED_TRACE(seed);
  const auto expected =
      SolveExhaustively(random.problem, random.alpha, random.beta);
  const auto found = FindCheapestPath(random.problem);
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->path.has_value(), expected.has_value());
  if (!expected.has_value()) return;
  EXPECT_EQ(found->path->time.count(), expected->time);
  EXPECT_EQ(found->path->specs, expected->specs);
  EXPECT_EQ(found->lower_bound.count(), expected->time);
  int64_t sum = 0;
  for (const Step& step : found->path->steps) sum += step.time.count();
  EXPECT_EQ(sum, expected->time);
}

struct Sweep {
  LayoutKinds kinds;
  int cases;
};

class OracleTest : public testing::TestWithParam<Sweep> {};

TEST_P(OracleTest, AgreesOnTimeAndTies) {
  int feasible = 0;
  for (int seed = 0; seed < GetParam().cases; ++seed) {
    const RandomLayout random = MakeRandomLayout(seed, GetParam().kinds);
    ASSERT_TRUE(Validate(random.problem).ok());
    ExpectOptimal(random, seed);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
    feasible += FindCheapestPath(random.problem)->path.has_value();
  }
  EXPECT_GT(feasible, GetParam().cases / 2);
}

INSTANTIATE_TEST_SUITE_P(
    Random, OracleTest,
    testing::Values(Sweep{{.axes = 1, .dims = 4}, 500},
                    Sweep{{.axes = 2, .dims = 3}, 3000},
                    Sweep{{.axes = 3, .dims = 3, .max_devices = 27}, 1200},
                    Sweep{{.axes = 3, .dims = 4, .max_devices = 64}, 150},
                    Sweep{{.axes = 4, .dims = 2, .max_devices = 24}, 250},
                    Sweep{{.axes = 4, .dims = 3, .max_devices = 16}, 12}),
    [](const auto& info) {
      return "Axes" + std::to_string(info.param.kinds.axes) + "Dims" +
             std::to_string(info.param.kinds.dims);
    });

// From every spec the bound is no more than the time that is left, and a step
// lowers it by no more than the step's time.
TEST(BoundTest, IsAdmissibleAndConsistent) {
  for (int seed = 0; seed < 300; ++seed) {
    const LayoutProblem problem =
        MakeRandomLayout(seed, {.axes = 3, .dims = 3}).problem;
    const Tiling tiling(problem);
    const Bound bound(problem, tiling, tiling.Pack(problem.target), {});
    EXPECT_EQ(bound.From(tiling.Pack(problem.target)), 0);
    OneStep one_step(problem, tiling);
    const int dims = static_cast<int>(problem.shape.size());
    for (int i = 0; i < 20; ++i) {
      const PackedSpec spec = tiling.Pack(RandomSpec(i, 3, dims));
      for (const PackedStep& step : one_step.From(spec)) {
        EXPECT_LE(bound.From(spec),
                  step.time + bound.From(tiling.FromKey(step.key)))
            << seed << " " << i;
      }
    }
  }
}

TEST(CheapestPathTest, SameSpecIsNoStep) {
  const Path path =
      FindPath(Problem({8, 8}, {2, 2}, {{1, 0}, {}}, {{1, 0}, {}}));
  EXPECT_TRUE(path.steps.empty());
  EXPECT_EQ(path.specs, (std::vector<Spec>{{{1, 0}, {}}}));
  EXPECT_EQ(path.time, Picoseconds(0));
}

TEST(CheapestPathTest, GatherPaysForTheBytesBefore) {
  const Path path = FindPath(Problem({8, 10}, {4}, {{0}, {}}, {{}, {}}));
  ASSERT_EQ(path.steps.size(), 1);
  EXPECT_EQ(path.steps[0].op, Op::kAllGather);
  EXPECT_EQ(path.steps[0].bytes, 80);
  EXPECT_EQ(path.time, Picoseconds(3 * (1'000'000 + 80 * 1000)));
}

TEST(CheapestPathTest, ExchangePaysForAShare) {
  const Path path = FindPath(Problem({8, 12}, {4}, {{0}, {}}, {{}, {0}}));
  ASSERT_EQ(path.steps.size(), 1);
  EXPECT_EQ(path.steps[0].op, Op::kAllToAll);
  EXPECT_EQ(path.steps[0].dim, 0);
  EXPECT_EQ(path.steps[0].to_dim, 1);
  EXPECT_EQ(path.time, Picoseconds(3 * (1'000'000 + 96 / 4 * 1000)));
}

TEST(CheapestPathTest, SlicesAreFree) {
  const Path path = FindPath(Problem({8, 8}, {2, 2}, {{}, {}}, {{1, 0}, {}}));
  EXPECT_EQ(path.steps.size(), 2);
  EXPECT_EQ(path.time, Picoseconds(0));
}

TEST(CheapestPathTest, PermuteReordersAxes) {
  const Path path =
      FindPath(Problem({16}, {2, 4, 2}, {{0, 1, 2}}, {{1, 0, 2}}));
  ASSERT_EQ(path.steps.size(), 1);
  EXPECT_EQ(path.steps[0].op, Op::kCollectivePermute);
  EXPECT_THAT(path.steps[0].axes, ElementsAre(0, 1));
  EXPECT_EQ(path.time, Picoseconds(1'000'000 + 4 * 1000));
}

// Four devices along axis 0 hold what four along axis 1 want.
TEST(CheapestPathTest, PermuteChangesAxesOfEqualSize) {
  const Path path = FindPath(Problem({16}, {4, 4}, {{0}}, {{1}}));
  ASSERT_EQ(path.steps.size(), 1);
  EXPECT_THAT(path.steps[0].axes, ElementsAre(0, 1));
  EXPECT_EQ(path.time, Picoseconds(1'000'000 + 16 * 1000));
}

TEST(CheapestPathTest, PermuteChangesTwoAxesForOneOfTheirSize) {
  const Path path = FindPath(Problem({16}, {2, 2, 4}, {{0, 1}}, {{2}}));
  ASSERT_EQ(path.steps.size(), 1);
  EXPECT_THAT(path.steps[0].axes, ElementsAre(0, 1, 2));
}

TEST(CheapestPathTest, PermuteTakesTheWorstLinkItCrosses) {
  LayoutProblem problem = Problem({16}, {2, 2, 2}, {{0, 1, 2}}, {{0, 2, 1}});
  problem.links = *AlphaBetaLinks::Create({9, 1e-6, 3e-6}, {9, 5e-9, 1e-9});
  const Path path = FindPath(problem);
  ASSERT_EQ(path.steps.size(), 1);
  EXPECT_EQ(path.time, Picoseconds(3'000'000 + 8 * 5000));
}

TEST(CheapestPathTest, AxesOfOneDeviceCostNothing) {
  const Path path = FindPath(Problem({16}, {1, 4}, {{0, 1}}, {{1, 0}}));
  EXPECT_EQ(path.time, Picoseconds(0));
}

// 5 = 2 + 2 + 1 in quarters, 3 + 2 in halves: no half is made of quarters.
TEST(CheapestPathTest, TilesThatDoNotAlignCannotBeJoined) {
  const auto stuck = FindCheapestPath(Problem({5}, {2, 2}, {{0, 1}}, {{0}}));
  ASSERT_TRUE(stuck.ok());
  EXPECT_FALSE(stuck->path.has_value());
  // 7 = 2 + 2 + 2 + 1 = 4 + 3.
  EXPECT_EQ(FindPath(Problem({7}, {2, 2}, {{0, 1}}, {{0}})).steps.size(), 1);
  // A single tile is made of anything.
  EXPECT_EQ(FindPath(Problem({5}, {4}, {{0}}, {{}})).time,
            Picoseconds(3 * (1'000'000 + 8 * 1000)));
}

// Cut short at any step: a path, and a bound that holds.
TEST(CheapestPathTest, GivesTheBestSoFarWithItsBound) {
  const LayoutProblem problem =
      Problem({64, 64}, {2, 4, 2}, {{0, 1}, {2}}, {{2}, {1, 0}});
  const Picoseconds best = FindPath(problem).time;
  Picoseconds bound(0);
  for (int64_t steps = 0; steps < 3000; steps += 10) {
    const auto cut = FindCheapestPath(problem, {.max_steps = steps});
    ASSERT_TRUE(cut.ok());
    EXPECT_EQ(cut->path->specs.back(), problem.target);
    EXPECT_GE(cut->path->time, best);
    EXPECT_LE(cut->lower_bound, best);
    EXPECT_GE(cut->lower_bound, bound);
    bound = cut->lower_bound;
  }
  EXPECT_EQ(bound, best);
}

TEST(CheapestPathTest, StopsWhenAsked) {
  const LayoutProblem problem = Problem({64}, {2, 2}, {{0, 1}}, {{1, 0}});
  std::stop_source stop;
  stop.request_stop();
  SearchOptions options;
  options.deadline.stop = stop.get_token();
  const auto stopped = FindCheapestPath(problem, options);
  ASSERT_TRUE(stopped.ok());
  EXPECT_EQ(stopped->path->steps.size(), 4);  // the heuristic's
  const auto late = FindCheapestPath(
      problem, {.deadline = base::Deadline::After(std::chrono::seconds(-1))});
  EXPECT_EQ(late->path->specs, stopped->path->specs);
  // Quarters of 5 cannot be joined, so the heuristic has no way either.
  EXPECT_EQ(FindCheapestPath(Problem({5}, {2, 2}, {{0, 1}}, {{0}}), options)
                .status()
                .code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(CheapestPathTest, TheLargestFiguresAddUp) {
  LayoutProblem problem;
  problem.shape = {int64_t{1} << 30, int64_t{1} << 29};
  problem.elem_bytes = 8;  // 2^62 bytes
  problem.mesh = {2, 4, 2};
  problem.source = {{0, 1}, {2}};
  problem.target = {{2}, {1, 0}};
  problem.links = *AlphaBetaLinks::Create({1e5, 1e5, 1e5}, {1e-14, 0, 1e-14});
  ASSERT_TRUE(Validate(problem).ok()) << Validate(problem);
  const Path path = FindPath(problem);
  int64_t sum = 0;
  for (const Step& step : path.steps) {
    EXPECT_GE(step.time, Picoseconds(0));
    sum += step.time.count();
  }
  EXPECT_EQ(path.time.count(), sum);
  EXPECT_GT(path.time, Picoseconds(100'000'000'000'000'000));
  problem.links = *AlphaBetaLinks::Create({1e6, 1e6, 1e6}, {0, 0, 0});
  EXPECT_EQ(Validate(problem).code(), absl::StatusCode::kInvalidArgument);
}

TEST(CheapestPathTest, ManyAxesWork) {
  const Path path =
      FindPath(Problem({64, 64, 64, 64}, {2, 2, 2, 2, 2},
                       {{0, 1}, {2}, {3, 4}, {}}, {{4}, {3, 2}, {}, {1, 0}}));
  EXPECT_EQ(path.specs.back(), (Spec{{4}, {3, 2}, {}, {1, 0}}));
}

}  // namespace
}  // namespace meshwright::layout
