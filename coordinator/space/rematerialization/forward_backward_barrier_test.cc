#include "coordinator/space/rematerialization/forward_backward_barrier.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/space/profile_space.h"
#include "coordinator/space/testing/program_entry.h"

namespace meshwright::space {
namespace {

using segmenter::Analysis;
using segmenter::SegmentGraph;

struct Sample {
  const char* name;
  Mesh mesh;
  bool keeps_barriers;
};

class TurnTest : public testing::TestWithParam<Sample> {};

// Of every program: what comes in is read by one instruction alone, which the
// activation comes before.
TEST_P(TurnTest, AGradientIsReadBehindItsActivationOnly) {
  const Sample& sample = GetParam();
  auto analysis = segmenter::AnalyzeSample(sample.name, sample.mesh);
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  KeyContext context;
  context.mesh = sample.mesh;
  context.keeps_barriers = sample.keeps_barriers;
  const ProfileSpace space = BuildProfileSpace(*analysis, context);
  int pairs = 0;
  for (size_t t = 0; t < space.types.size(); ++t) {
    const SegmentGraph& graph = analysis->graphs[analysis->types[t]];
    const ForwardBackwardBarrier barrier =
        FindForwardBackwardBarrier(*analysis, graph);
    for (const Configuration& it : space.types[t].configurations) {
      SCOPED_TRACE(it.describe);
      if (!it.program.has_value()) continue;  // no work
      const ProgramEntry entry(space.programs[*it.program]);
      for (const segmenter::BoundaryPair& exit : barrier.exits) {
        if (barrier.behind[exit.activation] ||
            graph.is_input(exit.activation)) {
          continue;
        }
        const auto& outputs = graph.outputs;
        const auto left =
            std::find(outputs.begin(), outputs.end(), exit.activation);
        ASSERT_NE(left, outputs.end());
        const auto& users = entry.users.at(entry.parameters.at(exit.gradient));
        ASSERT_EQ(users.size(), 1U);
        EXPECT_EQ(entry.by_id.at(*users.begin())->opcode(),
                  sample.keeps_barriers ? "tuple" : "add");
        const int64_t activation =
            entry.Output(static_cast<int>(left - outputs.begin()));
        EXPECT_TRUE(entry.Sources(*users.begin()).contains(activation));
        ++pairs;
      }
    }
  }
  EXPECT_GT(pairs, 0);
}

INSTANTIATE_TEST_SUITE_P(All, TurnTest,
                         testing::Values(Sample{"gpt2_tiny", {1, 2}, true},
                                         Sample{"gpt2_tiny", {1, 2}, false},
                                         Sample{"bert_tiny", {2, 2}, false},
                                         Sample{"moe_tiny", {1, 2}, false},
                                         Sample{"t5_tiny", {1, 2}, false},
                                         Sample{"convnet_tiny", {2, 2}, false},
                                         Sample{"unet_tiny", {1, 2}, true}),
                         [](const auto& info) {
                           return std::string(info.param.name) + "_" +
                                  (info.param.keeps_barriers ? "barriers"
                                                             : "zeros");
                         });

TEST(NoTurnTest, WhereNoGradientComesIn) {
  auto analysis = segmenter::AnalyzeSample("gpt2_tiny", {1, 2});
  ASSERT_TRUE(analysis.ok());
  int empty = 0;
  for (const SegmentGraph& graph : analysis->graphs) {
    empty += FindForwardBackwardBarrier(*analysis, graph).empty();
  }
  EXPECT_EQ(empty, 1);  // the last segment makes the loss
}

}  // namespace
}  // namespace meshwright::space
