// The simulator against what can be written down for equal stages, with s
// stages, m micro-batches, f and b of one forward and one backward, c and d of
// one transfer forward and backward.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "planner/pipeline/choose.h"
#include "planner/pipeline/memory.h"
#include "planner/pipeline/testing/random_pipeline.h"
#include "planner/pipeline/testing/replay.h"

namespace meshwright::pipeline {
namespace {

constexpr int64_t kActivation = 10;
constexpr int64_t kPersistent = 1000;

struct Shape {
  int s, m;
  int64_t f, b_input, b_weight, c, d;

  int64_t b() const { return b_input + b_weight; }
};

PipelineProblem Problem(const Shape& shape, bool overlap) {
  const Stage stage{Picoseconds(shape.f), Picoseconds(shape.b_input),
                    Picoseconds(shape.b_weight), kActivation, kPersistent};
  return MakeEqualStages(shape.s, shape.m, stage,
                         {Picoseconds(shape.c), Picoseconds(shape.d)}, overlap);
}

Figures Simulated(const Shape& shape, Schedule schedule, bool overlap = true) {
  const PipelineProblem problem = Problem(shape, overlap);
  const auto choice = Choose(problem, schedule);
  EXPECT_TRUE(choice.ok()) << choice.status();
  const auto replayed = Replay(problem, choice->chosen->timeline);
  EXPECT_TRUE(replayed.ok()) << replayed.status();
  EXPECT_EQ(replayed->step, choice->chosen->figures.step);
  EXPECT_EQ(replayed->peak_bytes, choice->chosen->figures.peak_bytes);
  EXPECT_LE(choice->lower_bound, replayed->step);
  return choice->chosen->figures;
}

std::string Print(const Shape& x) {
  return absl::StrCat("s ", x.s, " m ", x.m, " f ", x.f, " b ", x.b(), " c ",
                      x.c, " d ", x.d);
}

// Every s and m up to a few rounds; times that are not multiples of each other.
std::vector<Shape> Shapes(std::vector<std::pair<int64_t, int64_t>> transfers) {
  std::vector<Shape> shapes;
  for (const int s : {1, 2, 3, 4, 5, 7, 8}) {
    for (const int m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 29}) {
      for (const auto& [f, input, weight] :
           {std::tuple(7, 5, 8), std::tuple(10, 10, 10), std::tuple(13, 4, 1),
            std::tuple(3, 20, 9)}) {
        for (const auto& [c, d] : transfers) {
          shapes.push_back({s, m, f, input, weight, c, d});
        }
      }
    }
  }
  return shapes;
}

TEST(ClosedFormsTest, WithoutCommunicationTheThreeTakeTheSameTime) {
  for (const Shape& x : Shapes({{0, 0}})) {
    const int64_t step = (x.m + x.s - 1) * (x.f + x.b());
    for (const bool overlap : {true, false}) {
      for (const Schedule schedule :
           {Schedule::kGpipe, Schedule::k1F1B, Schedule::kEager1F1B}) {
        const Figures figures = Simulated(x, schedule, overlap);
        ASSERT_EQ(figures.step.count(), step)
            << Name(schedule) << " " << Print(x);
        EXPECT_DOUBLE_EQ(figures.bubble, (x.s - 1.0) / (x.m + x.s - 1.0));
      }
    }
  }
}

TEST(ClosedFormsTest, PeaksCountTheMicroBatchesInFlight) {
  for (const Shape& x : Shapes({{0, 0}, {2, 3}, {11, 9}})) {
    const auto gpipe = Simulated(x, Schedule::kGpipe).peak_bytes;
    const auto one = Simulated(x, Schedule::k1F1B).peak_bytes;
    const auto eager = Simulated(x, Schedule::kEager1F1B).peak_bytes;
    for (int i = 1; i <= x.s; ++i) {
      EXPECT_EQ(gpipe[i - 1], kPersistent + kActivation * x.m);
      EXPECT_EQ(one[i - 1],
                kPersistent + kActivation * std::min(x.m, x.s - i + 1));
      EXPECT_EQ(eager[i - 1],
                kPersistent + kActivation * std::min(x.m, 2 * (x.s - i) + 1));
      // "at most #stages x size of the activation" more
      EXPECT_LT(eager[i - 1] - one[i - 1], kActivation * x.s);
    }
  }
}

// Each way is a pipeline of stages and links, paced by the slower.
TEST(ClosedFormsTest, GpipeOverlapsItsTransfers) {
  for (const Shape& x : Shapes({{2, 3}, {11, 9}, {40, 1}, {0, 50}})) {
    const int64_t there = x.s * x.f + (x.s - 1) * x.c;
    const int64_t back = x.s * x.b() + (x.s - 1) * x.d;
    const int64_t pace =
        x.s == 1 ? x.f + x.b() : std::max(x.f, x.c) + std::max(x.b(), x.d);
    ASSERT_EQ(Simulated(x, Schedule::kGpipe).step.count(),
              there + back + (x.m - 1) * pace)
        << Print(x);
  }
}

// Forward of stage 1, the transfer, forward of stage 2 ... and all the way back
// are contiguous: a round of s micro-batches waits for s - 1 transfers each
// way, so a micro-batch for (s - 1) / s of them.
int64_t TransfersSeen(int s, int m) { return s - 1 + (m - 1) * (s - 1) / s; }

TEST(ClosedFormsTest, OneF1BWaitsForTheTransfersOfEveryRound) {
  for (const Shape& x :
       Shapes({{1, 1}, {2, 3}, {3, 0}, {0, 4}, {5, 10}, {7, 7}})) {
    if (x.c + x.d > x.f + x.b()) continue;
    ASSERT_EQ(
        Simulated(x, Schedule::k1F1B).step.count(),
        (x.m + x.s - 1) * (x.f + x.b()) + (x.c + x.d) * TransfersSeen(x.s, x.m))
        << Print(x);
  }
}

// As long as the transfers of a micro-batch fit beside its forward and
// backward, only those of the first one there and the last one back are seen:
// it hides floor((m - 1) (s - 1) / s) (c + d) of what 1F1B waits for.
TEST(ClosedFormsTest, EagerHidesAllButTheFirstAndTheLast) {
  for (const Shape& x :
       Shapes({{1, 1}, {2, 3}, {3, 0}, {0, 4}, {5, 10}, {7, 7}, {1, 13}})) {
    if (x.c + x.d > x.f + x.b()) continue;
    const Figures eager = Simulated(x, Schedule::kEager1F1B);
    ASSERT_EQ(eager.step.count(),
              (x.m + x.s - 1) * (x.f + x.b()) + (x.s - 1) * (x.c + x.d))
        << Print(x);
  }
}

// With enough micro-batches to delay, the last stage computes without a break
// from its first activation on: (s - 1) (f + c) + m (f + b). No schedule can do
// better, and the way back has vanished.
TEST(ClosedFormsTest, DelayedWeightsHideTheWayBack) {
  for (const Shape& x : Shapes({{0, 0}, {1, 1}, {2, 3}})) {
    if (x.c + x.d > x.f + x.b()) continue;
    if (x.m < 3 * x.s || x.b_weight < x.b_input) continue;
    const Figures delayed = Simulated(x, Schedule::kEager1F1BDelay);
    ASSERT_EQ(delayed.step.count(),
              (x.s - 1) * (x.f + x.c) + x.m * (x.f + x.b()))
        << Print(x);
  }
}

// Its gradient leaves a stage before its weights' is made: never slower, and
// without weights that wait it takes no more memory.
TEST(ClosedFormsTest, ASplitBackwardCostsNothing) {
  for (const Shape& x : Shapes({{0, 0}, {1, 1}, {2, 3}, {5, 10}})) {
    if (x.c + x.d > x.f + x.b()) continue;
    const PipelineProblem problem = Problem(x, true);
    const auto timeline = Simulate(
        problem, MakeOrders(Schedule::kEager1F1BDelay, x.s, x.m), {.max = 0});
    ASSERT_TRUE(timeline.ok()) << timeline.status();
    EXPECT_LE(timeline->step.count(),
              Simulated(x, Schedule::kEager1F1B).step.count());
    EXPECT_EQ(ComputePeakBytes(problem, *timeline),
              Simulated(x, Schedule::kEager1F1B).peak_bytes);
  }
}

// Two stages without overlap: each micro-batch has both transfers to itself.
TEST(ClosedFormsTest, WithoutOverlapTwoStagesPayEveryTransfer) {
  for (const Shape& x : Shapes({{1, 1}, {2, 3}, {5, 10}})) {
    if (x.s != 2) continue;
    for (const Schedule schedule : {Schedule::kGpipe, Schedule::k1F1B}) {
      ASSERT_EQ(Simulated(x, schedule, false).step.count(),
                (x.m + 1) * (x.f + x.b()) + x.m * (x.c + x.d))
          << Name(schedule) << " " << Print(x);
    }
  }
}

}  // namespace
}  // namespace meshwright::pipeline
