#include "coordinator/space/configurations/frozen_weights.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/strings/substitute.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/space/configurations/end_configurations.h"
#include "coordinator/space/configurations/parameter_links.h"

namespace meshwright::space {
namespace {

segmenter::Analysis AnalyzeText(const std::string& text) {
  auto module = ir::LoadModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  auto analysis = segmenter::Analyze(*std::move(module), {1, 2});
  EXPECT_TRUE(analysis.ok()) << analysis.status();
  return *std::move(analysis);
}

// Inference: rows of a table, so many layers h + tanh(h a) b, and the table
// again for logits.
std::string TiedInferenceText(int layers) {
  std::string arguments, body;
  for (int i = 0; i < layers; ++i) {
    absl::SubstituteAndAppend(&arguments,
                              "  a$0 = f32[32,64] parameter($1)\n"
                              "  b$0 = f32[64,32] parameter($2)\n",
                              i, 2 * i + 2, 2 * i + 3);
    absl::SubstituteAndAppend(&body, R"(
  y$0 = f32[8,16,64] dot(h$0, a$0), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  t$0 = f32[8,16,64] tanh(y$0)
  z$0 = f32[8,16,32] dot(t$0, b$0), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  h$1 = f32[8,16,32] add(h$0, z$0))",
                              i, i + 1);
  }
  return absl::Substitute(R"(
HloModule tied

ENTRY main {
  table = f32[128,32] parameter(0)
  ids = s32[8,16,1] parameter(1)
$0
  h0 = f32[8,16,32] gather(table, ids), offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,32}
$1
  turned = f32[32,128] transpose(table), dimensions={1,0}
  ROOT logits = f32[8,16,128] dot(h$2, turned), lhs_contracting_dims={2}, rhs_contracting_dims={0}
}
)",
                          arguments, body, layers);
}

TEST(FrozenWeightsTest, WeightsOfInferenceAreContractedOrGathered) {
  const segmenter::Analysis analysis = AnalyzeText(TiedInferenceText(2));
  for (int number = 0; number < 6; ++number) {
    EXPECT_EQ(IsFrozenWeight(analysis, number), number != 1) << number;
    EXPECT_EQ(FindWeightContraction(analysis, number).has_value(), number != 1);
  }
}

TEST(FrozenWeightsTest, TheBatchIsNone) {
  const segmenter::Analysis analysis = AnalyzeText(R"(
HloModule inference

ENTRY main {
  x = f32[8,16] parameter(0)
  w = f32[16,32] parameter(1)
  ROOT y = f32[8,32] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)");
  EXPECT_FALSE(IsWeight(analysis, 0));
  EXPECT_TRUE(IsWeight(analysis, 1));
}

// w is trained on top of a frozen base; a batch on the right side of a
// parameter stays one.
TEST(FrozenWeightsTest, AStepMayHaveSome) {
  const segmenter::Analysis analysis = AnalyzeText(R"(
HloModule step, input_output_alias={ {0}: (0, {}, may-alias) }
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}

ENTRY step {
  w = f32[32,16] parameter(0)
  base = f32[32,32] parameter(1)
  x = f32[16,8] parameter(2)
  zero = f32[] constant(0)
  h = f32[32,8] dot(w, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  y = f32[8,32] dot(h, base), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  square = f32[8,32] multiply(y, y)
  loss = f32[] reduce(square, zero), dimensions={0,1}, to_apply=sum
  dy = f32[8,32] add(y, y)
  dh = f32[32,8] dot(base, dy), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  dw = f32[32,16] dot(dh, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  w.new = f32[32,16] subtract(w, dw)
  ROOT out = (f32[32,16], f32[]) tuple(w.new, loss)
}
)");
  EXPECT_FALSE(IsFrozenWeight(analysis, 0));
  EXPECT_TRUE(IsWeight(analysis, 0));
  EXPECT_TRUE(IsFrozenWeight(analysis, 1));
  EXPECT_FALSE(IsWeight(analysis, 2));
}

// All segments that read the table are joined, whether they have blocks or not.
TEST(FrozenWeightsTest, ThoseThatShareOneSplitItAlike) {
  const segmenter::Analysis analysis = AnalyzeText(TiedInferenceText(4));
  const ir::ValueId table = analysis.module.parameters[0];
  const auto reads = [&](segmenter::SegmentIndex segment, int value) {
    return analysis.graphs[segment].values[value].origin == table;
  };
  std::set<size_t> readers;
  for (const segmenter::SegmentGraph& graph : analysis.graphs) {
    for (int i = 0; i < graph.input_count; ++i) {
      if (reads(graph.segment, i)) readers.insert(graph.segment);
    }
  }
  ASSERT_GE(readers.size(), 2u);
  std::set<size_t> joined;
  for (const ParameterLink& link : FindParameterLinks(analysis)) {
    for (const auto& [from, to] : link.values) {
      if (!reads(link.from_segment, from)) continue;
      joined.insert({link.from_segment, link.to_segment});
    }
  }
  for (const SharedParameter& it : FindSharedParameters(analysis)) {
    if (!reads(it.end_segment, it.end_value)) continue;
    joined.insert({it.end_segment, it.block_segment});
  }
  EXPECT_EQ(joined, readers);
}

}  // namespace
}  // namespace meshwright::space
