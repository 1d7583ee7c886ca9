#include "coordinator/space/annotation/grouped_sums.h"

#include <gtest/gtest.h>

#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/space/profile_space.h"

namespace meshwright::space {
namespace {

// The split of a value's operand on an axis: as the axis demands it, else as
// it is.
int FindOperandSplit(const AxisAnnotation& axis,
                     const segmenter::SegmentGraph& graph, int value,
                     int operand) {
  const auto demand = axis.demands.find({value, operand});
  return demand == axis.demands.end()
             ? axis.split[graph.values[value].operands[operand]]
             : demand->second;
}

// Of the convolution `gradient`, by configuration.
void ExpectNoCopiesOfSplitSums(const std::string& step,
                               const std::string& gradient, const Mesh& mesh,
                               const segmenter::StrategyRequest& request) {
  auto module = ir::LoadModule(step);
  ASSERT_TRUE(module.ok()) << module.status();
  const auto analysis = segmenter::Analyze(*std::move(module), mesh, request);
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  KeyContext context;
  context.mesh = mesh;
  const ProfileSpace space = BuildProfileSpace(*analysis, context);
  int summed_sums = 0;
  for (size_t t = 0; t < space.types.size(); ++t) {
    const segmenter::SegmentGraph& graph = analysis->graphs[analysis->types[t]];
    for (int i = graph.input_count; i < static_cast<int>(graph.values.size());
         ++i) {
      const ir::ValueId origin = graph.values[i].origin;
      if (analysis->module.at(origin).name() != gradient) continue;
      const ir::DotDims dims = ir::GetContractionDims(analysis->module, origin);
      for (const Configuration& it : space.types[t].configurations) {
        bool summed = false;
        bool copied = false;
        for (const AxisAnnotation& axis : it.annotation.axes) {
          const int lhs = FindOperandSplit(axis, graph, i, 0);
          const int rhs = FindOperandSplit(axis, graph, i, 1);
          summed |=
              lhs >= 0 && dims.side[0][lhs].role == ir::DotRole::kContracting;
          copied |= lhs < 0 && rhs < 0;
        }
        EXPECT_FALSE(summed && copied) << it.describe;
        summed_sums += summed;
      }
    }
  }
  EXPECT_GT(summed_sums, 0);
}

segmenter::StrategyRequest EveryState() {
  segmenter::StrategyRequest request;
  request.switches = {segmenter::SegmentSwitch::kFullySharded,
                      segmenter::SegmentSwitch::kOptimizerSharded};
  return request;
}

TEST(GroupedSumsTest, AnAxisBesideASplitSumTakesAPartOfIt) {
  ExpectNoCopiesOfSplitSums(segmenter::DepthwiseText(3), "dtaps", {2, 2}, {});
}

// Four parts of the batch of 8 leave 2, which four more do not divide.
TEST(GroupedSumsTest, WhatDoesNotDivideIsNotSplitBesideCopies) {
  ExpectNoCopiesOfSplitSums(segmenter::DepthwiseText(3), "dtaps", {4, 4}, {});
}

// No strategy demands anything there: what the sum reads is split as boundaries
// and other values of the prologue are.
TEST(GroupedSumsTest, SumsOfAPrologueAreSpreadToo) {
  const std::string step = segmenter::ScaledFeaturesText(3);
  ExpectNoCopiesOfSplitSums(step, "d_taps", {2, 2}, {});
  ExpectNoCopiesOfSplitSums(step, "d_taps", {2, 2}, EveryState());
}

// Of convolutions of one tap: no axis splits the groups where another holds
// copies of the result.
TEST(GroupedSumsTest, GroupsOfOneTapAreSplitOnAllAxesOrNone) {
  for (const Mesh& mesh : {Mesh{2, 2}, Mesh{2, 3}, Mesh{4, 4}, Mesh{32, 2}}) {
    segmenter::StrategyRequest request = EveryState();
    request.open_outer_axes = true;
    const auto analysis = segmenter::Analyze(
        *ir::LoadModule(segmenter::DepthwiseText(1)), mesh, request);
    ASSERT_TRUE(analysis.ok()) << analysis.status();
    KeyContext context;
    context.mesh = mesh;
    const ProfileSpace space = BuildProfileSpace(*analysis, context);
    int split = 0;
    for (size_t t = 0; t < space.types.size(); ++t) {
      const segmenter::SegmentGraph& graph =
          analysis->graphs[analysis->types[t]];
      for (size_t v = graph.input_count; v < graph.values.size(); ++v) {
        const ir::Instruction& it = analysis->module.at(graph.values[v].origin);
        if (it.opcode != ir::Opcode::kConvolution ||
            it.attributes().feature_group_count() == 1) {
          continue;
        }
        for (const Configuration& each : space.types[t].configurations) {
          int groups = 0, copies = 0;
          for (const AxisAnnotation& axis : each.annotation.axes) {
            groups += axis.split[v] == 2;
            copies += axis.split[v] < 0;
          }
          split += groups > 0;
          EXPECT_TRUE(groups == 0 || copies == 0)
              << it.name() << " in " << each.describe;
        }
      }
    }
    EXPECT_GT(split, 0);
  }
}

}  // namespace
}  // namespace meshwright::space
