#include "coordinator/space/grouped_sums.h"

#include <gtest/gtest.h>

#include "coordinator/ir/conv_dims.h"
#include "coordinator/segmenter/test_steps.h"
#include "coordinator/space/profile_space.h"

namespace meshwright::space {
namespace {

// A depthwise convolution of 3 taps behind a projection, trained.
constexpr char kStep[] = R"(
HloModule depthwise, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias), {2}: (2, {}, may-alias) }
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}
ENTRY main {
  project = f32[32,96] parameter(0)
  back = f32[96,32] parameter(1)
  taps = f32[3,1,96] parameter(2)
  x = f32[8,16,32] parameter(3)
  wide = f32[8,16,96] dot(x, project), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  conv = f32[8,16,96] convolution(wide, taps), window={size=3 pad=2_0}, dim_labels=b0f_0io->b0f, feature_group_count=96
  y = f32[8,16,32] dot(conv, back), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  zero = f32[] constant(0)
  square = f32[8,16,32] multiply(y, y)
  loss = f32[] reduce(square, zero), dimensions={0,1,2}, to_apply=add
  dconv = f32[8,16,96] dot(y, back), lhs_contracting_dims={2}, rhs_contracting_dims={1}
  dback = f32[96,32] dot(conv, y), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}
  dtaps = f32[3,1,96] convolution(wide, dconv), window={size=16 pad=2_0}, dim_labels=f0b_i0o->0bf, batch_group_count=96
  turned = f32[3,1,96] reverse(taps), dimensions={0}
  dwide = f32[8,16,96] convolution(dconv, turned), window={size=3 pad=0_2}, dim_labels=b0f_0io->b0f, feature_group_count=96
  dproject = f32[32,96] dot(x, dwide), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}
  new0 = f32[32,96] subtract(project, dproject)
  new1 = f32[96,32] subtract(back, dback)
  new2 = f32[3,1,96] subtract(taps, dtaps)
  ROOT out = (f32[32,96], f32[96,32], f32[3,1,96], f32[]) tuple(new0, new1, new2, loss)
}
)";

// What an axis makes of the operands of a value: as it demands them, else as
// they are.
int SplitOf(const AxisAnnotation& axis, const segmenter::SegmentGraph& graph,
            int value, int operand) {
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
      const ir::DotDims dims = ir::ContractionDimsOf(analysis->module, origin);
      for (const Configuration& it : space.types[t].configurations) {
        bool summed = false;
        bool copied = false;
        for (const AxisAnnotation& axis : it.annotation.axes) {
          const int lhs = SplitOf(axis, graph, i, 0);
          const int rhs = SplitOf(axis, graph, i, 1);
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
  ExpectNoCopiesOfSplitSums(kStep, "dtaps", {2, 2}, {});
}

// Four parts of the batch of 8 leave 2, which four more do not divide.
TEST(GroupedSumsTest, WhatDoesNotDivideIsNotSplitBesideCopies) {
  ExpectNoCopiesOfSplitSums(kStep, "dtaps", {4, 4}, {});
}

// No strategy demands anything there: what the sum reads is split as borders
// and other values of the prologue are.
TEST(GroupedSumsTest, SumsOfAPrologueAreSpreadToo) {
  const std::string step = segmenter::ScaledFeaturesText(3);
  ExpectNoCopiesOfSplitSums(step, "d_taps", {2, 2}, {});
  ExpectNoCopiesOfSplitSums(step, "d_taps", {2, 2}, EveryState());
}

}  // namespace
}  // namespace meshwright::space
