#include "coordinator/stages/stage_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "coordinator/jobs/testing/fake_measurer.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "profiledb/store/testing/fake_profile_store.h"

namespace meshwright::stages {
namespace {

using segmenter::SegmentIndex;
using segmenter::SegmentTypeId;

// Segments [first, end).
absl::StatusOr<const RunPlan*> PlanRun(StageSearch& search, int first, int end,
                                       int held) {
  return search.Plan(SegmentIndex(first), SegmentIndex(end), held);
}

class StageSearchTest : public testing::Test {
 protected:
  StageSearchTest() {
    measurer_.machine = 5;
    v1::PlanRequest request;
    request.set_hlo_module(segmenter::ReadSample("gpt2_4l"));
    request.mutable_mesh()->add_shape(1);
    request.mutable_mesh()->add_shape(2);
    auto step = planning::MeasureStep(request, {&store_, &measurer_},
                                      [](const v1::PlanProgress&) {});
    EXPECT_TRUE(step.ok()) << step.status();
    step_ = *std::move(step);
  }

  StageSearch Search(std::optional<int64_t> limit = std::nullopt,
                     int micro_batches = 1) {
    auto made = StageSearch::Create(step_, shared_, 1, micro_batches, limit);
    EXPECT_TRUE(made.ok()) << made.status();
    return *std::move(made);
  }

  int Segments() const {
    return static_cast<int>(step_.analysis.graphs.size());
  }

  store::FakeProfileStore store_;
  jobs::FakeMeasurer measurer_;
  planning::MeasuredStep step_;
  std::vector<SharedArgument> shared_;
};

TEST_F(StageSearchTest, TheWholeStepIsThePlan) {
  const auto answer = search::Solve(step_.measured.problem);
  ASSERT_TRUE(answer.ok());
  StageSearch search = Search();
  const auto run = PlanRun(search, 0, Segments(), 1);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ((*run)->time, answer->plan->time);
  // A backward pass alone is given all that the forward pass saved.
  EXPECT_GE((*run)->persistent_bytes + (*run)->saved_bytes,
            answer->plan->peak_bytes);
}

// A plan that is free at the cut costs no more than the same part of a longer
// one.
TEST_F(StageSearchTest, PartsCostNoMoreThanTheWhole) {
  StageSearch search = Search();
  const auto time = [&](int first, int end) {
    const auto run = PlanRun(search, first, end, 1);
    EXPECT_TRUE(run.ok()) << run.status();
    return (*run)->time;
  };
  for (int cut = 1; cut < Segments(); ++cut) {
    EXPECT_LE(time(0, cut) + time(cut, Segments()), time(0, Segments()));
  }
  // Equal runs are one.
  const int solved = search.solved();
  EXPECT_EQ(time(1, 2), time(2, 3));
  EXPECT_EQ(time(1, 3), time(2, 4));
  EXPECT_EQ(search.solved() - solved, 2);
}

TEST_F(StageSearchTest, WhatIsHeldCountsUnderALimit) {
  StageSearch free = Search();
  const RunPlan fastest = **PlanRun(free, 0, Segments(), 1);
  const int64_t limit = fastest.persistent_bytes + 2 * fastest.saved_bytes;
  StageSearch search = Search(limit);
  problem::Picoseconds before{0};
  int refused = 0;
  int slower = 0;
  for (int held = 1; held <= 6; ++held) {
    const auto run = PlanRun(search, 0, Segments(), held);
    ASSERT_TRUE(run.ok()) << run.status();
    if (!(*run)->fits) {
      EXPECT_GT((*run)->persistent_bytes, limit);
      ++refused;
      continue;
    }
    EXPECT_EQ(refused, 0);
    EXPECT_LE((*run)->persistent_bytes + held * (*run)->saved_bytes, limit);
    EXPECT_GE((*run)->time, before);
    if (held <= 2) {
      EXPECT_EQ((*run)->time, fastest.time);
    }
    slower += (*run)->time > fastest.time;
    before = (*run)->time;
  }
  EXPECT_GT(refused + slower, 0);
}

TEST_F(StageSearchTest, GradientsThatAddUpAreThere) {
  StageSearch one = Search();
  StageSearch four = Search(std::nullopt, 4);
  const RunPlan alone = **PlanRun(one, 1, 2, 1);
  const RunPlan summed = **PlanRun(four, 1, 2, 1);
  EXPECT_EQ(summed.time, alone.time);
  EXPECT_GT(summed.persistent_bytes, alone.persistent_bytes);
  EXPECT_EQ(summed.saved_bytes, alone.saved_bytes);
}

// Of the plan of one segment nothing but the configurations' times matters:
// so many passes and one update.
TEST_F(StageSearchTest, AnUpdateCountsOnceToSoManyPasses) {
  constexpr int kMicroBatches = 50;
  using problem::Picoseconds;
  const auto& types = step_.measured.problem.types;
  const auto time = [&](SegmentTypeId type, int configuration) {
    const auto& usable = step_.measured.usable[type];
    const auto at = std::find(usable.begin(), usable.end(), configuration);
    return types[type].configs[at - usable.begin()].time;
  };
  // Every other one is mostly update.
  const auto update = [&](SegmentTypeId type, int configuration) {
    return time(type, configuration) * (configuration % 2 == 0 ? 1 : 9) / 10;
  };
  // Passes run apart take longer than together, some more than others.
  const auto split = [&](SegmentTypeId type, int configuration) {
    PassTimes split;
    split.update = update(type, configuration);
    split.forward = (time(type, configuration) - split.update) *
                    (configuration % 3 == 0 ? 6 : 5) / 5;
    return split;
  };
  const auto of_step = [&](SegmentTypeId type, int configuration) {
    const PassTimes it = split(type, configuration);
    return kMicroBatches * it.forward + it.update;
  };
  StageSearch search = Search(std::nullopt, kMicroBatches);
  std::vector<int> before;
  for (int s = 0; s < Segments(); ++s) {
    before.push_back((*PlanRun(search, s, s + 1, 1))->choice[0]);
  }
  search.ApplyPassTimes(split);
  int changed = 0;
  for (int s = 0; s < Segments(); ++s) {
    SCOPED_TRACE(s);
    const SegmentTypeId type = step_.analysis.type_of_segment[s];
    const RunPlan run = **PlanRun(search, s, s + 1, 1);
    // Figures stay as measured.
    EXPECT_EQ(run.time, time(type, run.choice[0]));
    Picoseconds min_step = of_step(type, run.choice[0]);
    for (const int other : step_.measured.usable[type]) {
      min_step = std::min(min_step, of_step(type, other));
    }
    // A picosecond of every pass is lost to rounding.
    EXPECT_LE(of_step(type, run.choice[0]),
              min_step + Picoseconds(kMicroBatches));
    changed += run.choice[0] != before[s];
  }
  EXPECT_GT(changed, 0);
  // Pass times that are known already change nothing.
  const int solved = search.solved();
  search.ApplyPassTimes(split);
  EXPECT_TRUE(PlanRun(search, 0, 1, 1).ok());
  EXPECT_EQ(search.solved(), solved);
}

// GPT-2's head reads the embedding, which the first stage updates.
class TiedStageSearchTest : public StageSearchTest {
 protected:
  TiedStageSearchTest()
      : tied_(FindShared(step_.analysis, FindPasses(step_.analysis))) {}

  // Of the embedding on one device, with a configuration of the last segment.
  int64_t CountTiedBytes(int configuration) const {
    const SegmentIndex last(Segments() - 1);
    const segmenter::SegmentGraph& graph = step_.analysis.graphs[last];
    const ir::ValueId origin =
        step_.analysis.module.parameters[tied_[0].argument];
    const ir::Shape& shape = step_.analysis.module.at(origin).shape;
    const space::Mesh& mesh = step_.space.context.mesh;
    for (int i = 0; i < graph.input_count; ++i) {
      if (graph.values[i].origin != origin) continue;
      return space::CountBytesPerDevice(
          shape,
          GetTypeOfLast().configurations[configuration].annotation.GetSharding(
              i, shape, mesh),
          mesh);
    }
    ADD_FAILURE() << "the head does not read the embedding";
    return 0;
  }

  SegmentTypeId LastType() const {
    return step_.analysis.type_of_segment[SegmentIndex(Segments() - 1)];
  }
  const space::SegmentType& GetTypeOfLast() const {
    return step_.space.types[LastType()];
  }

  int64_t CountBytesOfLast(StageSearch& search, int configuration) const {
    const int last = Segments() - 1;
    const auto run = search.EvaluateRun(
        SegmentIndex(last), SegmentIndex(last + 1), {configuration});
    EXPECT_TRUE(run.ok()) << run.status();
    return run->persistent_bytes;
  }

  std::vector<SharedArgument> tied_;
};

TEST_F(TiedStageSearchTest, AParameterOfAnotherStageIsHeldAsItIsSplit) {
  ASSERT_EQ(tied_.size(), 1u);
  StageSearch alone = Search();
  const int last = Segments() - 1;
  const int64_t first = (*PlanRun(alone, 0, 1, 1))->persistent_bytes;
  const int64_t whole = (*PlanRun(alone, 0, last + 1, 1))->persistent_bytes;
  std::vector<int64_t> without;
  const std::vector<int>& usable = step_.measured.usable[LastType()];
  for (const int configuration : usable) {
    without.push_back(CountBytesOfLast(alone, configuration));
  }
  shared_ = tied_;
  StageSearch tied = Search();
  int split = 0;
  for (size_t i = 0; i < usable.size(); ++i) {
    const int64_t bytes = CountTiedBytes(usable[i]);
    EXPECT_EQ(CountBytesOfLast(tied, usable[i]), without[i] + bytes);
    split += bytes < tied_[0].bytes;
  }
  EXPECT_GT(split, 0);
  // The stage that updates it counts it already.
  EXPECT_EQ((*PlanRun(tied, 0, 1, 1))->persistent_bytes, first);
  EXPECT_EQ((*PlanRun(tied, 0, last + 1, 1))->persistent_bytes, whole);
}

TEST_F(TiedStageSearchTest, ASplitParameterOfAnotherStageFits) {
  ASSERT_EQ(tied_.size(), 1u);
  shared_ = tied_;
  StageSearch free = Search();
  int64_t least = INT64_MAX;
  for (const int configuration : step_.measured.usable[LastType()]) {
    const auto run =
        free.EvaluateRun(SegmentIndex(Segments() - 1), SegmentIndex(Segments()),
                         {configuration});
    ASSERT_TRUE(run.ok()) << run.status();
    least = std::min(least, run->persistent_bytes + run->saved_bytes);
  }
  StageSearch search = Search(least);
  const auto run = PlanRun(search, Segments() - 1, Segments(), 1);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_TRUE((*run)->fits);
  EXPECT_EQ((*run)->persistent_bytes + (*run)->saved_bytes, least);
}

TEST_F(TiedStageSearchTest, TheHeadSumsItsPartOfTheGradient) {
  ASSERT_EQ(tied_.size(), 1u);
  StageSearch one = Search();
  StageSearch four = Search(std::nullopt, 4);
  int64_t max_sum = 0;
  for (const int configuration : step_.measured.usable[LastType()]) {
    max_sum = std::max(max_sum, CountBytesOfLast(four, configuration) -
                                    CountBytesOfLast(one, configuration));
  }
  EXPECT_GE(max_sum, tied_[0].bytes);
}

}  // namespace
}  // namespace meshwright::stages
