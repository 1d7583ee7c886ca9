#include "coordinator/stages/passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/segmenter/testing/test_steps.h"

namespace meshwright::stages {
namespace {

segmenter::Analysis Analysed(const std::string& model) {
  auto analysis = segmenter::AnalyzeSample(model, {1, 2});
  EXPECT_TRUE(analysis.ok()) << analysis.status();
  return *std::move(analysis);
}

class PassesTest : public testing::TestWithParam<const char*> {};

// Whatever the update is: it holds no contraction, nothing of it is read by
// what is not of it, and every parameter of an unrolled step has a gradient
// above it.
TEST_P(PassesTest, TheUpdateIsWhatNobodyElseNeeds) {
  const segmenter::Analysis analysis = Analysed(GetParam());
  const ir::Module& module = analysis.module;
  const StepPasses passes = FindPasses(analysis);
  int updates = 0;
  int gradients = 0;
  for (const ir::ValueId id : module.ids()) {
    gradients += passes.weight_gradient[id];
    if (!passes.update[id]) continue;
    ++updates;
    EXPECT_FALSE(analysis.passes.forward[id]) << module.at(id).name();
    EXPECT_FALSE(passes.weight_gradient[id]);
    EXPECT_FALSE(ir::IsContraction(module, id)) << module.at(id).name();
    for (const ir::ValueId user : module.at(id).users) {
      EXPECT_TRUE(passes.update[user] || !analysis.plan.owner[user].IsSegment())
          << module.at(id).name();
    }
  }
  int parameters = 0;
  for (size_t p = 0; p < module.parameters.size(); ++p) {
    parameters +=
        analysis.passes.roles[p] == segmenter::ArgumentRole::kParameter &&
        analysis.passes.state_output[p].has_value();
  }
  EXPECT_GT(parameters, 0);
  EXPECT_GE(updates, parameters);
  EXPECT_GE(gradients, parameters);
}

TEST_P(PassesTest, ProgramsHoldMoreAndMore) {
  const segmenter::Analysis analysis = Analysed(GetParam());
  const StepPasses passes = FindPasses(analysis);
  int both_ways = 0;
  for (segmenter::SegmentIndex s; s < analysis.graphs.size(); ++s) {
    const segmenter::SegmentGraph& graph = analysis.graphs[s];
    const SegmentPasses parts = ListPassOutputs(analysis, passes, s);
    const auto begins = [](const std::vector<int>& longer,
                           const std::vector<int>& shorter) {
      return longer.size() >= shorter.size() &&
             std::equal(shorter.begin(), shorter.end(), longer.begin());
    };
    EXPECT_TRUE(begins(parts.with_input_gradients, parts.forward));
    EXPECT_TRUE(begins(parts.with_all_gradients, parts.with_input_gradients));
    for (const int value : parts.forward) {
      EXPECT_TRUE(analysis.passes.forward[graph.values[value].origin]);
    }
    // A gradient leaves by the boundary its activation came in by.
    for (const segmenter::BoundaryPair& entry : graph.entries) {
      EXPECT_EQ(std::count(parts.with_input_gradients.begin(),
                           parts.with_input_gradients.end(), entry.gradient),
                1)
          << "segment " << s;
    }
    both_ways +=
        !parts.forward.empty() &&
        parts.with_input_gradients.size() > parts.forward.size() &&
        parts.with_all_gradients.size() > parts.with_input_gradients.size();
  }
  EXPECT_GT(both_ways, 0);
}

INSTANTIATE_TEST_SUITE_P(Models, PassesTest,
                         testing::Values("llama_tiny", "gpt2_tiny", "bert_tiny",
                                         "moe_tiny", "t5_tiny", "vit_tiny",
                                         "albert_tiny", "unet_tiny",
                                         "convnet_tiny"));

}  // namespace
}  // namespace meshwright::stages
