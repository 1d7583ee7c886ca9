#include "coordinator/operators/intraop_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "coordinator/operators/block_choice.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "planner/intraop/solve.h"

namespace meshwright::operators {
namespace {

using intraop::CostKind;
using intraop::Strategy;

constexpr symbolic::Device kDevice{.flops_per_second = 5e10,
                                   .bytes_per_second = 1e10};

segmenter::Analysis Load(const std::string& name, std::vector<int64_t> mesh) {
  segmenter::StrategyRequest request;
  request.open_outer_axes = true;
  auto analysis = segmenter::AnalyzeSample(name, std::move(mesh), request);
  EXPECT_TRUE(analysis.ok()) << analysis.status();
  return *std::move(analysis);
}

intraop::Request RequestOn(const std::vector<int64_t>& mesh, CostKind cost) {
  intraop::Request request;
  request.machine.mesh = mesh;
  request.machine.links = *layout::AlphaBetaLinks::Create(
      std::vector<double>(mesh.size(), 2e-6),
      std::vector<double>(mesh.size(), 1 / 2e10));
  request.machine.cost = cost;
  return request;
}

struct Sample {
  const char* name;
  std::vector<int64_t> mesh;
};

class IntraOpSampleTest : public testing::TestWithParam<Sample> {};

TEST_P(IntraOpSampleTest, ThePlanIsValidFitsAndBeatsDataParallelism) {
  const auto& [name, mesh] = GetParam();
  const segmenter::Analysis analysis = Load(name, mesh);
  const auto read = ReadIntraOpModel(analysis, kDevice);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_TRUE(Validate(read->model).ok()) << Validate(read->model);
  ASSERT_EQ(read->anchors.size(), read->model.operators.size());
  for (const CostKind cost : {CostKind::kRoofline, CostKind::kCommunication}) {
    intraop::Request request = RequestOn(mesh, cost);
    const auto free = intraop::Solve(read->model, request);
    ASSERT_TRUE(free.ok()) << free.status();
    ASSERT_TRUE(free->plan.has_value());
    const auto scored =
        intraop::Score(read->model, request, free->plan->strategies);
    ASSERT_TRUE(scored.ok()) << scored.status();
    EXPECT_EQ(scored->time, free->plan->time);

    std::vector<Strategy> batch;
    for (const intraop::Operator& it : read->model.operators) {
      batch.push_back(ChooseDataParallel(it, mesh));
    }
    const auto dp = intraop::Score(read->model, request, batch);
    // Under Alpa's rule a contraction without rows has no such strategy.
    if (dp.ok()) {
      EXPECT_LE(free->plan->time, dp->time);
    }
    if (cost == CostKind::kRoofline) {
      EXPECT_TRUE(dp.ok()) << dp.status();
    }

    request.memory_limit_bytes = free->plan->peak_bytes * 4 / 5;
    const auto bound = intraop::Solve(read->model, request);
    ASSERT_TRUE(bound.ok()) << bound.status();
    if (bound->plan.has_value()) {
      EXPECT_LE(bound->plan->peak_bytes, *request.memory_limit_bytes);
      EXPECT_GE(bound->plan->time, free->lower_bound);
    } else {
      EXPECT_GT(bound->least_memory_bytes, request.memory_limit_bytes);
    }
    const std::vector<int> blocks =
        FindNearestStrategies(analysis, *read, *free->plan);
    ASSERT_EQ(blocks.size(), analysis.blocks.blocks.size());
    for (size_t b = 0; b < blocks.size(); ++b) {
      EXPECT_LT(blocks[b],
                static_cast<int>(analysis.strategies[b].strategies.size()));
    }
  }
}

TEST_P(IntraOpSampleTest, EveryForwardContractionIsAnOperatorWithItsRoles) {
  const auto& [name, mesh] = GetParam();
  const segmenter::Analysis analysis = Load(name, mesh);
  const auto read = ReadIntraOpModel(analysis, kDevice);
  ASSERT_TRUE(read.ok()) << read.status();
  std::set<ir::ValueId> anchors;
  int rows = 0;
  for (size_t i = 0; i < read->anchors.size(); ++i) {
    const OperatorAnchor& anchor = read->anchors[i];
    const intraop::Operator& it = read->model.operators[i];
    anchors.insert(anchor.id);
    rows += it.rows.has_value();
    if (!it.heavy) continue;
    ASSERT_EQ(anchor.splits.size(), it.indices.size());
    for (const segmenter::RootSplit& split : anchor.splits) {
      // A row, a column, a contracted or a batch dimension, if it is one of
      // the contraction at all.
      const int places =
          split.lhs.has_value() + split.rhs.has_value() + split.out.has_value();
      EXPECT_NE(places, 1);
    }
  }
  for (const auto& block : analysis.blocks.blocks) {
    for (ir::ValueId id : block.contractions) {
      EXPECT_TRUE(anchors.contains(id)) << analysis.module.at(id).name();
    }
  }
  EXPECT_GT(rows, static_cast<int>(read->anchors.size()) / 2);
}

INSTANTIATE_TEST_SUITE_P(
    Samples, IntraOpSampleTest,
    testing::Values(Sample{"llama_tiny", {1, 2}}, Sample{"llama_2l", {2, 2}},
                    Sample{"gpt2_2l", {1, 4}}, Sample{"bert_tiny", {1, 2}},
                    Sample{"moe_tiny", {1, 2}}, Sample{"t5_tiny", {1, 2}},
                    Sample{"vit_tiny", {1, 2}}, Sample{"albert_tiny", {1, 2}},
                    Sample{"scan_tiny", {1, 2}},
                    Sample{"accumulate_tiny", {1, 2}},
                    Sample{"unet_tiny", {1, 2}},
                    Sample{"convnet_tiny", {1, 2}}));

// Operators that a plan splits along its batch are blocks split by rows.
TEST(BlockChoiceTest, DataParallelOperatorsAreDataParallelBlocks) {
  const segmenter::Analysis analysis = Load("llama_2l", {1, 2});
  const auto read = ReadIntraOpModel(analysis, kDevice);
  ASSERT_TRUE(read.ok()) << read.status();
  intraop::IntraOpPlan plan;
  for (const intraop::Operator& it : read->model.operators) {
    plan.strategies.push_back(ChooseDataParallel(it, {1, 2}));
  }
  const std::vector<int> blocks = FindNearestStrategies(analysis, *read, plan);
  for (size_t b = 0; b < blocks.size(); ++b) {
    EXPECT_EQ(analysis.strategies[b].strategies[blocks[b]].kind,
              segmenter::StrategyKind::kRows);
  }
}

TEST(BlockChoiceTest, AmongEqualsTheFirstIsTaken) {
  const segmenter::Analysis analysis = Load("llama_2l", {1, 2});
  const auto read = ReadIntraOpModel(analysis, kDevice);
  ASSERT_TRUE(read.ok()) << read.status();
  intraop::IntraOpPlan plan;
  plan.strategies.assign(read->anchors.size(), {std::nullopt, std::nullopt});
  for (int strategy : FindNearestStrategies(analysis, *read, plan)) {
    EXPECT_EQ(strategy, 0);
  }
}

TEST(BlockChoiceTest, ColumnsOfTheRootsAreColumnsOfTheBlock) {
  const segmenter::Analysis analysis = Load("llama_2l", {1, 2});
  const auto read = ReadIntraOpModel(analysis, kDevice);
  ASSERT_TRUE(read.ok()) << read.status();
  intraop::IntraOpPlan plan;
  for (size_t i = 0; i < read->anchors.size(); ++i) {
    Strategy columns = {std::nullopt, std::nullopt};
    const auto& splits = read->anchors[i].splits;
    for (size_t index = 0; index < splits.size(); ++index) {
      if (splits[index].rhs.has_value() && splits[index].out.has_value() &&
          !splits[index].lhs.has_value()) {
        columns[1] = static_cast<int>(index);
      }
    }
    plan.strategies.push_back(columns);
  }
  const std::vector<int> blocks = FindNearestStrategies(analysis, *read, plan);
  int of_columns = 0;
  for (size_t b = 0; b < blocks.size(); ++b) {
    of_columns += analysis.strategies[b].strategies[blocks[b]].kind ==
                  segmenter::StrategyKind::kColumns;
  }
  EXPECT_EQ(of_columns, static_cast<int>(blocks.size()));
}

}  // namespace
}  // namespace meshwright::operators
