#include "coordinator/segmenter/direction/gradient_dims.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/segmenter/analysis.h"
#include "coordinator/segmenter/testing/test_steps.h"

namespace meshwright::segmenter {
namespace {

using Dims = std::vector<std::optional<int>>;

// Of a training step of a strided stem, two residual blocks (1x1, grouped,
// depthwise, 1x1) and a dense head.
Analysis AnalyzeConvnet() {
  auto analysis = AnalyzeSample("convnet_tiny", {1, 2});
  EXPECT_TRUE(analysis.ok()) << analysis.status();
  return *std::move(analysis);
}

int64_t CountGroups(const ir::Module& module, ir::ValueId id) {
  return module.at(id).attributes().feature_group_count();
}

TEST(GradientDimsTest, EveryBackwardContractionBelongsToItsForwardOne) {
  const Analysis analysis = AnalyzeConvnet();
  const ir::Module& module = analysis.module;
  std::map<ir::ValueId, std::vector<GradientMatch>> of;
  std::map<ir::ValueId, std::set<ir::ValueId>> cotangents;
  int forward = 0;
  for (const ir::ValueId id : module.ids()) {
    if (!ir::IsContraction(module, id)) continue;
    if (analysis.passes.forward[id]) {
      ++forward;
      continue;
    }
    const auto found = analysis.gradients.find(id);
    ASSERT_NE(found, analysis.gradients.end()) << module.at(id).name();
    const GradientMatch& match = found->second;
    EXPECT_FALSE(match.recomputation);
    of[match.forward].push_back(match);
    cotangents[match.forward].insert(
        module.at(id).operands[match.cotangent_operand]);
    // A gradient has the elements of what it is the gradient of.
    const ir::ValueId differentiated =
        module.at(match.forward).operands[match.differentiated];
    EXPECT_EQ(module.at(id).shape.element_count(),
              module.at(differentiated).shape.element_count())
        << module.at(id).name();
  }
  EXPECT_EQ(forward, 1 + 2 * 4 + 1);
  ASSERT_EQ(of.size(), static_cast<size_t>(forward));
  int both = 0;
  for (const auto& [id, matches] : of) {
    EXPECT_EQ(cotangents[id].size(), 1u) << module.at(id).name();
    ASSERT_LE(matches.size(), 2u);
    if (matches.size() < 2) continue;
    ++both;
    EXPECT_NE(matches[0].differentiated, matches[1].differentiated);
  }
  EXPECT_EQ(both, forward - 1);  // nobody asks for the gradient of the image
}

TEST(GradientDimsTest, DimensionsOfPlainConvolutions) {
  const Analysis analysis = AnalyzeConvnet();
  int seen = 0;
  for (const auto& [id, match] : analysis.gradients) {
    const ir::Instruction& it = analysis.module.at(id);
    if (it.opcode != ir::Opcode::kConvolution ||
        CountGroups(analysis.module, match.forward) > 1) {
      continue;
    }
    EXPECT_EQ(match.cotangent_dims, (Dims{0, 1, 2, 3})) << it.name();
    EXPECT_EQ(match.output_dims, (Dims{0, 1, 2, 3})) << it.name();
    ++seen;
  }
  EXPECT_EQ(seen, 1 + 2 * 2 * 2);
}

// A dimension inside a group has no counterpart in the kernel.
TEST(GradientDimsTest, DimensionsOfGroupedConvolutions) {
  const Analysis analysis = AnalyzeConvnet();
  int kernels = 0, inputs = 0;
  for (const auto& [id, match] : analysis.gradients) {
    const ir::Instruction& it = analysis.module.at(id);
    if (it.opcode != ir::Opcode::kConvolution ||
        CountGroups(analysis.module, match.forward) <= 1) {
      continue;
    }
    EXPECT_EQ(match.cotangent_dims, (Dims{0, 1, 2, 3})) << it.name();
    if (match.differentiated == 1) {
      EXPECT_EQ(match.output_dims, (Dims{0, 1, std::nullopt, 3})) << it.name();
      ++kernels;
    } else {
      EXPECT_EQ(match.output_dims, (Dims{0, 1, 2, 3})) << it.name();
      ++inputs;
    }
  }
  EXPECT_EQ(kernels, 2 * 2);
  EXPECT_EQ(inputs, 2 * 2);
}

// The same two operands, but as a convolution the roles of whose dimensions
// make it no gradient of the forward one.
TEST(GradientDimsTest, RolesRuleAPairOut) {
  const auto module = ir::LoadModule(R"(HloModule m
ENTRY e {
  x = f32[4,8,8,4] parameter(0)
  w = f32[3,3,4,4] parameter(1)
  g = f32[4,8,8,4] parameter(2)
  y = f32[4,8,8,4] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
  dx = f32[4,8,8,4] convolution(g, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01oi->b01f
  other = f32[4,8,8,4] convolution(g, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
  ROOT all = (f32[4,8,8,4], f32[4,8,8,4], f32[4,8,8,4]) tuple(y, dx, other)
}
)");
  ASSERT_TRUE(module.ok()) << module.status();
  std::vector<ir::ValueId> classes(module->size());
  for (const ir::ValueId id : module->ids()) classes[id] = id;
  const ir::ValueId y = module->outputs[0];
  int64_t looks_left = 100;
  EXPECT_TRUE(DescribeGradient(*module, classes, module->outputs[1], 0, y, 1,
                               looks_left)
                  .has_value());
  EXPECT_FALSE(DescribeGradient(*module, classes, module->outputs[2], 0, y, 1,
                                looks_left)
                   .has_value());
}

}  // namespace
}  // namespace meshwright::segmenter
