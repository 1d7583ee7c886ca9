#include "coordinator/segmenter/analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/segmenter/testing/check_analysis.h"
#include "coordinator/segmenter/testing/test_steps.h"

namespace meshwright::segmenter {
namespace {

Analysis Analyzed(const std::string& name, std::vector<int64_t> mesh) {
  auto analysis = AnalyzeSample(name, std::move(mesh));
  EXPECT_TRUE(analysis.ok()) << analysis.status();
  return *std::move(analysis);
}

// The segment that sums scalars of all others grows with the depth and costs
// nothing.
bool IsGlue(const Analysis& analysis, const SegmentGraph& graph) {
  for (const SegmentValue& value : graph.values) {
    if (!analysis.module.at(value.origin).shape.is_scalar()) return false;
  }
  return true;
}

struct Expected {
  const char* name;
  int layer_configurations;
};

class SampleTest : public testing::TestWithParam<Expected> {};

TEST_P(SampleTest, ALayerIsFourBlocksAndOneSegmentType) {
  for (const auto& [suffix, layers] :
       {std::pair<std::string, int>{"_2l", 2}, {"_4l", 4}}) {
    const Analysis analysis = Analyzed(GetParam().name + suffix, {1, 2});
    int instances = 0;
    for (size_t s = 0; s < analysis.plan.segments.size(); ++s) {
      const Segment& segment = analysis.plan.segments[s];
      if (segment.last_block - segment.first_block != 4) continue;
      int configurations = 1;
      for (int b = segment.first_block; b < segment.last_block; ++b) {
        configurations *=
            static_cast<int>(analysis.strategies[b].strategies.size());
      }
      EXPECT_EQ(configurations, GetParam().layer_configurations);
      EXPECT_EQ(
          analysis.type_of_segment[s],
          analysis
              .type_of_segment[analysis.plan.segments[1].first_block ? s : 1]);
      ++instances;
    }
    EXPECT_EQ(instances, layers);
    int types = 0;
    for (SegmentIndex segment : analysis.types) {
      types += !IsGlue(analysis, analysis.graphs[segment]);
    }
    EXPECT_EQ(types, 3);
  }
}

TEST_P(SampleTest, ADeeperModelHasTheSameSegmentTypes) {
  const Analysis shallow =
      Analyzed(std::string(GetParam().name) + "_2l", {1, 2});
  const Analysis deep = Analyzed(std::string(GetParam().name) + "_4l", {1, 2});
  std::set<std::string> a, b;
  for (const auto& graph : shallow.graphs) {
    if (!IsGlue(shallow, graph)) a.insert(graph.fingerprint);
  }
  for (const auto& graph : deep.graphs) {
    if (!IsGlue(deep, graph)) b.insert(graph.fingerprint);
  }
  EXPECT_EQ(a, b);
}

TEST_P(SampleTest, EveryBackwardContractionIsMatched) {
  const Analysis analysis =
      Analyzed(std::string(GetParam().name) + "_2l", {1, 2});
  for (const ir::ValueId id : analysis.module.ids()) {
    if (!ir::IsContraction(analysis.module, id) ||
        analysis.passes.forward[id]) {
      continue;
    }
    EXPECT_TRUE(analysis.gradients.contains(id))
        << analysis.module.at(id).name();
  }
}

// The segments together are the step: every operation that is not recomputable
// is in exactly one graph, and every output is given once.
TEST_P(SampleTest, TheSegmentsCoverTheStepOnce) {
  const Analysis analysis =
      Analyzed(std::string(GetParam().name) + "_2l", {1, 2});
  std::vector<int> seen(analysis.module.size(), 0);
  std::set<ir::ValueId> outputs;
  for (const SegmentGraph& graph : analysis.graphs) {
    for (size_t i = graph.input_count; i < graph.values.size(); ++i) {
      ++seen[graph.values[i].origin];
    }
    for (int output : graph.outputs) {
      outputs.insert(graph.values[output].origin);
    }
  }
  for (const ir::ValueId id : analysis.module.ids()) {
    if (analysis.plan.owner[id].IsSegment()) {
      EXPECT_EQ(seen[id], 1) << analysis.module.at(id).name();
    }
  }
  for (ir::ValueId output : analysis.module.outputs) {
    EXPECT_TRUE(outputs.contains(output));
  }
}

INSTANTIATE_TEST_SUITE_P(All, SampleTest,
                         testing::Values(Expected{"llama", 81},
                                         Expected{"gpt2", 81},
                                         Expected{"bert", 81},
                                         Expected{"moe", 108}),
                         [](const auto& info) { return info.param.name; });

// Both halves of T5 are made of the same pieces, whichever layer it is; the
// encoder's last piece holds the norm that the decoder reads.
TEST(AnalysisTest, EncoderAndDecoderShareTheirPieces) {
  const Analysis analysis = Analyzed("t5_tiny", {1, 2});
  EXPECT_THAT(analysis.type_of_segment,
              testing::ElementsAre(0,                 // embeddings, biases
                                   1, 2, 1, 3,        // two encoder layers
                                   1, 4, 2, 1, 4, 2,  // two decoder layers
                                   5));               // head
}

// One set of weights: only their gradients leave a layer, for the sum where the
// weights are updated, and as they are made: who adds them up transposes them.
// The layers between are one type at any depth.
TEST(AnalysisTest, LayersThatShareWeightsAreOneType) {
  const Analysis analysis = Analyzed("albert_4l", {1, 2});
  EXPECT_THAT(analysis.type_of_segment,
              testing::ElementsAre(0,  // embedding
                                   1,  // updates the weights
                                   2,  // and the norm at a layer's end
                                   3, 3, 4));
  const SegmentGraph& layer = analysis.graphs[4];
  std::multiset<std::vector<int64_t>> weights;
  for (int i = 0; i < layer.input_count; ++i) {
    const ir::Instruction& it = analysis.module.at(layer.values[i].origin);
    if (it.opcode == ir::Opcode::kParameter) weights.insert(it.shape.dims);
  }
  for (int output : layer.outputs) {
    const ir::ValueId id = layer.values[output].origin;
    if (analysis.passes.forward[id]) continue;
    EXPECT_FALSE(ir::IsLayout(analysis.module.at(id).opcode))
        << analysis.module.at(id).name();
    const auto& dims = analysis.module.at(id).shape.dims;
    EXPECT_TRUE(weights.contains(dims) || (layer.entries.size() == 1 &&
                                           output == layer.entries[0].gradient))
        << analysis.module.at(id).name();
  }
}

// The gradient of a residual stream of bfloat16 comes to the last layer from a
// norm in float32 alone, and to the others as a sum in bfloat16.
TEST(AnalysisTest, TheLastLayerOfBfloat16IsOneLikeTheOthers) {
  auto module = ir::LoadModule(NarrowLayersText(3));
  ASSERT_TRUE(module.ok()) << module.status();
  const auto analysis = Analyze(*std::move(module), {1, 2});
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  EXPECT_THAT(analysis->type_of_segment,
              testing::ElementsAre(0,  // the scale of features
                                   1, 1, 1, 2));
}

// Each layer constrains its activation, as with_sharding_constraint does.
TEST(AnalysisTest, AConstraintInsideALayerCutsNothing) {
  const std::string plain = ScaledFeaturesText(3);
  std::string constrained = plain;
  for (const char* const layer : {"0", "1", "2"}) {
    const std::string tanh =
        absl::StrCat("t", layer, " = f32[8,16,64] tanh(y", layer, ")");
    ASSERT_NE(constrained.find(tanh), std::string::npos);
    constrained = absl::StrReplaceAll(
        constrained,
        {{tanh, absl::StrCat("free_", tanh, "\n  t", layer,
                             " = f32[8,16,64] custom-call(free_t", layer,
                             "), custom_call_target=\"Sharding\", "
                             "sharding={devices=[2,1,1]<=[2]}")}});
  }
  const auto analyze = [](const std::string& text) {
    auto module = ir::LoadModule(text);
    EXPECT_TRUE(module.ok()) << module.status();
    auto analysis = Analyze(*std::move(module), {1, 2});
    EXPECT_TRUE(analysis.ok()) << analysis.status();
    return *std::move(analysis);
  };
  const Analysis with = analyze(constrained);
  const Analysis without = analyze(plain);
  EXPECT_EQ(with.module.constraints.size(), 3u);
  EXPECT_EQ(with.type_of_segment, without.type_of_segment);
  ASSERT_EQ(with.graphs.size(), without.graphs.size());
  for (size_t s = 0; s < with.graphs.size(); ++s) {
    EXPECT_EQ(with.graphs[s].fingerprint, without.graphs[s].fingerprint);
  }
}

// The step of ScaledFeaturesText(3), whose updates one conditional makes or
// leaves out.
std::string StepWithOneUpdateOfAll() {
  const std::pair<const char*, const char*> weights[] = {
      {"taps", "f32[1,1,32]"}, {"a0", "f32[32,64]"}, {"b0", "f32[64,32]"},
      {"a1", "f32[32,64]"},    {"b1", "f32[64,32]"}, {"a2", "f32[32,64]"},
      {"b2", "f32[64,32]"}};
  constexpr int kCount = 7;
  std::string text = ScaledFeaturesText(3);
  std::vector<std::string> types, old, gradients, updated;
  std::string taken, subtracted, elements;
  for (int i = 0; i < kCount; ++i) {
    const auto& [name, type] = weights[i];
    types.push_back(type);
    old.push_back(absl::StrCat("old", i));
    gradients.push_back(absl::StrCat("d_", name));
    updated.push_back(absl::StrCat("updated", i));
    absl::StrAppend(&taken, "  old", i, " = ", type,
                    " get-tuple-element(all), index=", i, "\n");
    absl::StrAppend(&subtracted, "  change", i, " = ", type,
                    " get-tuple-element(all), index=", kCount + i,
                    "\n  updated", i, " = ", type, " subtract(old", i,
                    ", change", i, ")\n");
    const std::string update = absl::StrCat("new_", name, " = ", type);
    absl::StrAppend(&elements, "  ", update,
                    " get-tuple-element(chosen), index=", i, "\n");
    text = absl::StrReplaceAll(
        text,
        {{absl::StrCat("  ", update, " subtract(", name, ", d_", name, ")\n"),
          ""}});
  }
  const std::string results =
      absl::StrCat("(", absl::StrJoin(types, ", "), ")");
  const std::string both = absl::StrCat("(", absl::StrJoin(types, ", "), ", ",
                                        absl::StrJoin(types, ", "), ")");
  const auto branch = [&](const std::string& name, const std::string& made,
                          const std::vector<std::string>& returned) {
    return absl::StrCat(name, " {\n  all = ", both, " parameter(0)\n", taken,
                        made, "  ROOT out = ", results, " tuple(",
                        absl::StrJoin(returned, ", "), ")\n}\n");
  };
  return absl::StrReplaceAll(
      text,
      {{"ENTRY main {", absl::StrCat(branch("apply", subtracted, updated),
                                     branch("skip", "", old), "ENTRY main {")},
       {"  ROOT out = (",
        absl::StrCat("  finite = pred[] compare(loss, loss), direction=EQ\n",
                     "  all = ", both, " tuple(taps, a0, b0, a1, b1, a2, b2, ",
                     absl::StrJoin(gradients, ", "), ")\n  chosen = ", results,
                     " conditional(finite, all, all), "
                     "true_computation=apply, false_computation=skip\n",
                     elements, "  ROOT out = (")}});
}

// As optax.apply_if_finite does.
TEST(AnalysisTest, ATupleOfAllUpdatesCrossesNoBoundary) {
  auto module = ir::LoadModule(StepWithOneUpdateOfAll());
  ASSERT_TRUE(module.ok()) << module.status();
  const auto analysis = Analyze(*std::move(module), {1, 2});
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  EXPECT_TRUE(CheckAnalysis(*analysis).ok()) << CheckAnalysis(*analysis);
  EXPECT_GT(analysis->graphs.size(), 2u);
  for (const SegmentGraph& graph : analysis->graphs) {
    const auto origin = [&](int value) {
      return analysis->module.at(graph.values[value].origin);
    };
    for (int i = 0; i < graph.input_count; ++i) {
      EXPECT_FALSE(origin(i).shape.is_tuple()) << origin(i).name();
    }
    for (const int output : graph.outputs) {
      EXPECT_FALSE(origin(output).shape.is_tuple()) << origin(output).name();
    }
  }
}

// Copies of the rows for each of four experts: the dimension of experts is none
// of the first contraction's, so no strategy of it splits the second.
TEST(AnalysisTest, ABatchDimensionOfNoRootBeginsABlock) {
  auto module = ir::LoadModule(R"(
HloModule experts, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}
ENTRY main {
  shared = f32[32,48] parameter(0)
  experts = f32[4,48,32] parameter(1)
  x = f32[8,16,32] parameter(2)
  y = f32[8,16,48] dot(x, shared), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  rows = f32[4,8,16,48] broadcast(y), dimensions={1,2,3}
  z = f32[4,8,16,32] dot(rows, experts), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={3}, rhs_contracting_dims={1}
  zero = f32[] constant(0)
  square = f32[4,8,16,32] multiply(z, z)
  loss = f32[] reduce(square, zero), dimensions={0,1,2,3}, to_apply=add
  d_rows = f32[4,8,16,48] dot(z, experts), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={3}, rhs_contracting_dims={2}
  d_experts = f32[4,48,32] dot(rows, z), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1,2}, rhs_contracting_dims={1,2}
  d_y = f32[8,16,48] reduce(d_rows, zero), dimensions={0}, to_apply=add
  d_shared = f32[32,48] dot(x, d_y), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}
  new0 = f32[32,48] subtract(shared, d_shared)
  new1 = f32[4,48,32] subtract(experts, d_experts)
  ROOT out = (f32[32,48], f32[4,48,32], f32[]) tuple(new0, new1, loss)
}
)");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto analysis = Analyze(*std::move(module), {1, 2});
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  EXPECT_EQ(analysis->strategies.size(), 2u);
}

TEST(AnalysisTest, AMeshThatDividesNothingReplicates) {
  const Analysis analysis = Analyzed("llama_tiny", {1, 7});
  for (const StrategySet& set : analysis.strategies) {
    ASSERT_EQ(set.strategies.size(), 1u);
    EXPECT_EQ(set.strategies[0].kind, StrategyKind::kReplicated);
    EXPECT_FALSE(set.lost.empty());
    EXPECT_THAT(set.lost[0].reason, testing::HasSubstr("does not divide by 7"));
  }
}

}  // namespace
}  // namespace meshwright::segmenter
