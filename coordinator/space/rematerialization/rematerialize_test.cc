#include "coordinator/space/rematerialization/rematerialize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/space/profile_space.h"
#include "coordinator/space/testing/build_space.h"

namespace meshwright::space {
namespace {

using segmenter::Analysis;
using segmenter::SegmentGraph;
using segmenter::SegmentSwitch;

Analysis Analyze(const std::string& name, const Mesh& mesh,
                 segmenter::StrategyRequest request = {}) {
  auto analysis = segmenter::AnalyzeSample(name, mesh, std::move(request));
  EXPECT_TRUE(analysis.ok()) << analysis.status();
  return *std::move(analysis);
}

segmenter::StrategyRequest Open(std::vector<SegmentSwitch> switches) {
  segmenter::StrategyRequest request;
  request.switches = std::move(switches);
  return request;
}

class RematerializationTest : public testing::TestWithParam<const char*> {
 protected:
  RematerializationTest() : analysis_(Analyze(GetParam(), {1, 2})) {}
  const ir::Instruction& At(const SegmentGraph& graph, int value) const {
    return analysis_.module.at(graph.values[value].origin);
  }
  Analysis analysis_;
};

TEST_P(RematerializationTest, EntrancesAreAllThatIsNeededFromOutside) {
  int rematerializations = 0;
  for (const SegmentGraph& graph : analysis_.graphs) {
    const Rematerialization rematerialization =
        FindRematerialization(analysis_, graph);
    if (rematerialization.empty()) continue;
    ++rematerializations;
    for (size_t i = 0; i < graph.values.size(); ++i) {
      if (!rematerialization.recomputed[i]) continue;
      EXPECT_FALSE(rematerialization.reader[i]);
      EXPECT_FALSE(graph.is_input(static_cast<int>(i)));
      for (int operand : graph.values[i].operands) {
        EXPECT_TRUE(rematerialization.recomputed[operand] ||
                    rematerialization.entrance[operand] ||
                    analysis_.passes.recomputable[graph.values[operand].origin])
            << At(graph, operand).name();
        EXPECT_FALSE(rematerialization.reader[operand])
            << "a gradient, before it is there";
      }
    }
  }
  EXPECT_GT(rematerializations, 0);
}

TEST_P(RematerializationTest, NoReaderIsLeftWithAForwardContraction) {
  for (const SegmentGraph& graph : analysis_.graphs) {
    const Rematerialization rematerialization =
        FindRematerialization(analysis_, graph);
    if (rematerialization.empty()) continue;
    for (size_t i = 0; i < graph.values.size(); ++i) {
      if (!rematerialization.reader[i]) continue;
      for (int operand : graph.values[i].operands) {
        const ir::ValueId origin = graph.values[operand].origin;
        if (!ir::IsContraction(analysis_.module, origin) ||
            !analysis_.passes.forward[origin]) {
          continue;
        }
        EXPECT_TRUE(rematerialization.Redirects(static_cast<int>(i), operand))
            << analysis_.module.at(origin).name();
      }
    }
  }
}

TEST_P(RematerializationTest, NothingOfTheUpdateIsComputedTwice) {
  for (const SegmentGraph& graph : analysis_.graphs) {
    const Rematerialization rematerialization =
        FindRematerialization(analysis_, graph);
    for (size_t i = 0; i < rematerialization.entrance.size(); ++i) {
      if (!rematerialization.entrance[i]) continue;
      const ir::Instruction& it = At(graph, static_cast<int>(i));
      if (it.opcode != ir::Opcode::kParameter) continue;
      EXPECT_NE(analysis_.passes.roles[it.attributes().parameter_number()],
                segmenter::ArgumentRole::kOptimizer)
          << it.name();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, RematerializationTest,
                         testing::Values("llama_2l", "gpt2_2l", "bert_2l",
                                         "moe_2l", "t5_tiny", "vit_tiny",
                                         "unet_tiny", "convnet_tiny",
                                         "accumulate_tiny"),
                         [](const auto& info) { return info.param; });

TEST(RecomputeTest, EveryConfigurationIsThereTwiceAndKeepsLess) {
  const Analysis plain = Analyze("llama_2l", {1, 2});
  const Analysis open =
      Analyze("llama_2l", {1, 2}, Open({SegmentSwitch::kRecompute}));
  const ProfileSpace few = BuildSpace(plain);
  const ProfileSpace all = BuildSpace(open);
  for (size_t t = 0; t < few.types.size(); ++t) {
    const auto& before = few.types[t].configurations;
    const auto& after = all.types[t].configurations;
    if (!HasBlocks(plain, plain.types[t]) || after.size() == before.size()) {
      EXPECT_EQ(after.size(), before.size());
      continue;
    }
    ASSERT_EQ(after.size(), 2 * before.size());
    for (size_t c = 0; c < before.size(); ++c) {
      // Those without it are as they were, program for program.
      EXPECT_EQ(all.programs[*after[c].program].key(),
                few.programs[*before[c].program].key());
      const Configuration& again = after[c + before.size()];
      EXPECT_TRUE(again.recompute);
      EXPECT_EQ(again.describe, before[c].describe + "; recompute");
      EXPECT_LT(again.saved_bytes, after[c].saved_bytes);
      EXPECT_EQ(again.given_bytes, again.saved_bytes);
      EXPECT_EQ(again.persistent_bytes, after[c].persistent_bytes);
    }
  }
}

// Only the activation that enters a layer is kept: 8 x 64 tokens of 256 floats,
// or half of them.
TEST(RecomputeTest, ALayerKeepsWhatEntersIt) {
  const Analysis analysis =
      Analyze("llama_4l", {1, 2}, Open({SegmentSwitch::kRecompute}));
  const ProfileSpace space = BuildSpace(analysis);
  const int layer = analysis.type_of_segment[2];
  for (const Configuration& it : space.types[layer].configurations) {
    if (!it.recompute) continue;
    int64_t entering = 0;
    const SegmentGraph& graph = analysis.graphs[2];
    for (const segmenter::BoundaryPair& entry : graph.entries) {
      const ir::Shape& shape =
          analysis.module.at(graph.values[entry.activation].origin).shape;
      entering += CountBytesPerDevice(
          shape,
          it.annotation.GetSharding(entry.activation, shape, analysis.mesh),
          analysis.mesh);
    }
    EXPECT_EQ(it.saved_bytes, entering) << it.describe;
  }
}

TEST(RecomputeTest, GoesWithTheSwitchesAndCanBePinnedAndForbidden) {
  const auto describes = [](segmenter::StrategyRequest request) {
    const Analysis analysis = Analyze("llama_2l", {1, 2}, std::move(request));
    const ProfileSpace space = BuildSpace(analysis);
    std::set<std::string> kinds;
    for (const Configuration& it :
         space.types[analysis.type_of_segment[1]].configurations) {
      kinds.insert(absl::StrCat(segmenter::NameSwitch(it.segment_switch),
                                it.recompute ? " again" : ""));
    }
    return kinds;
  };
  using testing::ElementsAre;
  segmenter::StrategyRequest both =
      Open({SegmentSwitch::kFullySharded, SegmentSwitch::kRecompute});
  EXPECT_THAT(describes(both),
              ElementsAre("fully-sharded", "fully-sharded again", "plain",
                          "plain again"));
  segmenter::StrategyRequest forbidden = both;
  forbidden.blocks = {{"all", {"recompute"}, true}};
  EXPECT_THAT(describes(forbidden), ElementsAre("fully-sharded", "plain"));
  segmenter::StrategyRequest pinned;
  pinned.blocks = {{"all", {"recompute"}}};
  EXPECT_THAT(describes(pinned), ElementsAre("plain again"));
  pinned.blocks = {{"all", {"fully-sharded", "recompute"}}};
  EXPECT_THAT(describes(pinned),
              ElementsAre("fully-sharded", "fully-sharded again", "plain",
                          "plain again"));
}

// A scan keeps its loops: what its trips stack is not freed.
TEST(RecomputeTest, ALoopOverLayersIsLeftAsItIs) {
  const Analysis analysis = Analyze("scan_tiny", {1, 2});
  for (const SegmentGraph& graph : analysis.graphs) {
    const bool has_loop = std::any_of(graph.values.begin(), graph.values.end(),
                                      [&](const segmenter::SegmentValue& it) {
                                        const std::optional<ir::LoopId> loop =
                                            analysis.module.at(it.origin).loop;
                                        return loop.has_value() &&
                                               analysis.plan.kept_loops[*loop];
                                      });
    EXPECT_TRUE(!has_loop || FindRematerialization(analysis, graph).empty());
  }
}

TEST(RecomputeTest, InferenceHasNothingToRecompute) {
  const Analysis analysis = Analyze("llama_tiny", {1, 2});
  for (const SegmentGraph& graph : analysis.graphs) {
    if (!graph.exits.empty()) continue;
    EXPECT_TRUE(FindRematerialization(analysis, graph).empty());
  }
}

}  // namespace
}  // namespace meshwright::space
