#include "coordinator/space/configurations/switches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "coordinator/ir/load/load.h"
#include "coordinator/ir/shape.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/space/profile_space.h"

namespace meshwright::space {
namespace {

using segmenter::Analysis;
using segmenter::AnalyzeSample;
using segmenter::ArgumentRole;
using segmenter::SegmentGraph;
using segmenter::SegmentSwitch;
using segmenter::SegmentTypeId;
using segmenter::StrategyRequest;
using testing::HasSubstr;

StrategyRequest Everything() {
  StrategyRequest request;
  request.switches = {SegmentSwitch::kFullySharded,
                      SegmentSwitch::kOptimizerSharded,
                      SegmentSwitch::kSequence};
  return request;
}

// One of each type, with its program keys.
struct Space {
  Space(const std::string &name, const Mesh &mesh,
        const StrategyRequest &request)
      : mesh(mesh), analysis(*AnalyzeSample(name, mesh, request)) {
    KeyContext context;
    context.mesh = mesh;
    space = BuildProfileSpace(analysis, context);
  }

  const SegmentGraph &graph(SegmentTypeId type) const {
    return analysis.graphs[analysis.types[type]];
  }
  const ir::Instruction &at(SegmentTypeId type, int value) const {
    return analysis.module.at(graph(type).values[value].origin);
  }
  Sharding GetSharding(SegmentTypeId type, const Configuration &it,
                       int value) const {
    return it.annotation.GetSharding(value, at(type, value).shape, mesh);
  }
  bool IsParameter(SegmentTypeId type, int value) const {
    return graph(type).is_input(value) &&
           at(type, value).opcode == ir::Opcode::kParameter &&
           analysis.passes
                   .roles[at(type, value).attributes().parameter_number()] ==
               ArgumentRole::kParameter;
  }
  // Configurations of the layers, whose type has the most blocks.
  SegmentTypeId layer() const {
    SegmentTypeId best;
    for (SegmentTypeId t; t < analysis.types.size(); ++t) {
      const auto blocks = [&](SegmentTypeId type) {
        const auto &it = analysis.plan.segments[analysis.types[type]];
        return it.last_block - it.first_block;
      };
      if (blocks(t) > blocks(best)) best = t;
    }
    return best;
  }
  const Configuration *Find(SegmentTypeId type,
                            const std::string &describe) const {
    for (const Configuration &it : space.types[type].configurations) {
      if (it.describe == describe) return &it;
    }
    return nullptr;
  }

  Mesh mesh;
  Analysis analysis;
  ProfileSpace space;
};

struct Sample {
  const char *name;
  Mesh mesh;
  bool outer;
};

class SwitchesTest : public testing::TestWithParam<Sample> {
 protected:
  static StrategyRequest Request() {
    StrategyRequest request = Everything();
    request.open_outer_axes = GetParam().outer;
    return request;
  }
  SwitchesTest() : it_(Cached()) {}

  // Made once for all tests of a sample.
  static const Space &Cached() {
    static auto *const spaces =
        new std::map<std::tuple<std::string, Mesh, bool>, Space>();
    const auto &[name, mesh, outer] = GetParam();
    const auto found = spaces->find({name, mesh, outer});
    if (found != spaces->end()) return found->second;
    return spaces
        ->try_emplace({name, mesh, outer}, std::string(name), mesh, Request())
        .first->second;
  }

  template <typename Visit>
  void ForEach(Visit visit) const {
    for (SegmentTypeId t; t < it_.space.types.size(); ++t) {
      for (const Configuration &each : it_.space.types[t].configurations) {
        visit(t, each);
      }
    }
  }

  const Space &it_;
};

// Written splits are the intended ones: each divides its dimension, so that no
// split is dropped on the way to the program.
TEST_P(SwitchesTest, EverySplitDivides) {
  ForEach([&](SegmentTypeId type, const Configuration &configuration) {
    for (size_t v = 0; v < it_.graph(type).values.size(); ++v) {
      const int value = static_cast<int>(v);
      const std::vector<int64_t> *dims =
          ir::CollectUniformDims(it_.at(type, value).shape);
      Sharding raw;
      for (const AxisAnnotation &axis : configuration.annotation.axes) {
        raw.push_back(axis.split[value]);
      }
      if (dims == nullptr) continue;
      ASSERT_EQ(Legalize(raw, *dims, it_.mesh), raw)
          << it_.at(type, value).name() << " in " << configuration.describe;
    }
  });
}

TEST_P(SwitchesTest, StateLeavesAsItCame) {
  ForEach([&](SegmentTypeId type, const Configuration &configuration) {
    for (const auto &[argument, updated] : it_.graph(type).state) {
      EXPECT_EQ(configuration.annotation.GetLeaving(
                    updated, it_.at(type, updated).shape, it_.mesh),
                it_.GetSharding(type, configuration, argument))
          << it_.at(type, argument).name() << " in " << configuration.describe;
    }
  });
}

TEST_P(SwitchesTest, AGradientCrossesLikeItsActivation) {
  ForEach([&](SegmentTypeId type, const Configuration &configuration) {
    for (const auto *pairs :
         {&it_.graph(type).entries, &it_.graph(type).exits}) {
      for (const segmenter::BoundaryPair &pair : *pairs) {
        EXPECT_EQ(it_.GetSharding(type, configuration, pair.activation),
                  it_.GetSharding(type, configuration, pair.gradient))
            << configuration.describe;
      }
    }
  });
}

TEST_P(SwitchesTest, EveryConfigurationIsAnotherProgramOfAnotherName) {
  for (const SegmentType &type : it_.space.types) {
    std::set<std::string> names;
    std::map<std::vector<int>, std::set<ProgramId>> programs;
    for (const Configuration &each : type.configurations) {
      EXPECT_TRUE(names.insert(each.describe).second) << each.describe;
      if (!each.program.has_value() || each.strategies.empty()) continue;
      EXPECT_TRUE(programs[each.strategies].insert(*each.program).second)
          << each.describe;
    }
  }
}

// A switch divides what it is there to divide, and nothing of the rest grows.
TEST_P(SwitchesTest, StateShrinksAndParametersOfZeroOneStay) {
  int compared = 0;
  ForEach([&](SegmentTypeId type, const Configuration &each) {
    const bool full = each.segment_switch == SegmentSwitch::kFullySharded;
    if (!full && each.segment_switch != SegmentSwitch::kOptimizerSharded) {
      return;
    }
    const std::string name = each.describe.substr(0, each.describe.rfind("; "));
    const Configuration *plain = it_.Find(type, name);
    if (plain == nullptr) return;  // an end whose only variant has a switch
    ++compared;
    EXPECT_LE(each.persistent_bytes, plain->persistent_bytes);
    if (!full) {
      EXPECT_EQ(each.saved_bytes, plain->saved_bytes);
    }
    for (const auto &[argument, updated] : it_.graph(type).state) {
      if (full || !it_.IsParameter(type, argument)) continue;
      EXPECT_EQ(it_.GetSharding(type, each, argument),
                it_.GetSharding(type, *plain, argument));
    }
  });
  EXPECT_GT(compared, 0);
}

TEST_P(SwitchesTest, DataParallelStateIsSplitOverTheDataAxes) {
  const SegmentTypeId layer = it_.layer();
  std::string rows = "rows, rows, rows, rows";
  if (GetParam().outer) return;  // its layers are cut
  const Configuration *const plain = it_.Find(layer, rows);
  const Configuration *const full = it_.Find(layer, rows + "; fully-sharded");
  const Configuration *const zero =
      it_.Find(layer, rows + "; optimizer-sharded");
  ASSERT_TRUE(plain != nullptr && full != nullptr && zero != nullptr);
  // A third is parameters, the rest first and second moments.
  // The gathered parameters live from the forward to the backward pass.
  EXPECT_GT(full->saved_bytes, plain->saved_bytes);
  EXPECT_LE(full->saved_bytes,
            plain->saved_bytes + plain->persistent_bytes / 3);
  const int64_t devices = CountDevices(it_.mesh);
  const int64_t whole = plain->persistent_bytes;
  EXPECT_LE(full->persistent_bytes, whole / devices + whole / 16);
  EXPECT_NEAR(static_cast<double>(zero->persistent_bytes),
              static_cast<double>(whole / 3 + whole * 2 / 3 / devices),
              static_cast<double>(whole) / 16);
}

// Experts are a block of contractions that ends in their sum.
TEST_P(SwitchesTest, TensorParallelBoundariesFollowTheSequence) {
  const auto &sets = it_.analysis.strategies;
  const bool experts =
      std::any_of(sets.begin(), sets.end(),
                  [](const auto &set) { return set.strategies.size() > 3; });
  if (GetParam().outer) return;
  const SegmentTypeId layer = it_.layer();
  const int inner = static_cast<int>(it_.mesh.size()) - 1;
  const Configuration *const split = it_.Find(
      layer, experts ? "columns, contraction, columns, experts; sequence"
                     : "columns, contraction, columns, contraction; sequence");
  ASSERT_NE(split, nullptr);
  for (const auto *pairs :
       {&it_.graph(layer).entries, &it_.graph(layer).exits}) {
    ASSERT_FALSE(pairs->empty());
    for (const segmenter::BoundaryPair &pair : *pairs) {
      EXPECT_EQ(it_.GetSharding(layer, *split, pair.activation)[inner], 1);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SwitchesTest,
                         testing::Values(Sample{"llama_tiny", {1, 2}, false},
                                         Sample{"gpt2_tiny", {1, 2}, false},
                                         Sample{"bert_tiny", {1, 2}, false},
                                         Sample{"moe_tiny", {1, 2}, false},
                                         Sample{"llama_tiny", {2, 2}, false},
                                         Sample{"llama_tiny", {2, 2}, true}),
                         [](const auto &info) {
                           return std::string(info.param.name) + "_" +
                                  std::to_string(info.param.mesh[0]) + "x" +
                                  std::to_string(info.param.mesh[1]) +
                                  (info.param.outer ? "_outer" : "");
                         });

// A layer that takes batch and sequence as one dimension of tokens is split
// along the tokens; its boundaries along the sequence, as those of other
// layers.
TEST(FlattenedTokensTest, BoundariesFollowTheSequence) {
  for (const Mesh &mesh : {Mesh{1, 2}, Mesh{2, 2}}) {
    auto module = ir::LoadModule(segmenter::ScaledFeaturesText(3, true));
    ASSERT_TRUE(module.ok()) << module.status();
    const auto analysis =
        segmenter::Analyze(*std::move(module), mesh, Everything());
    ASSERT_TRUE(analysis.ok()) << analysis.status();
    KeyContext context;
    context.mesh = mesh;
    const ProfileSpace space = BuildProfileSpace(*analysis, context);
    int met = 0;
    for (size_t t = 0; t < space.types.size(); ++t) {
      const SegmentGraph &graph = analysis->graphs[analysis->types[t]];
      for (const Configuration &it : space.types[t].configurations) {
        if (it.segment_switch != SegmentSwitch::kSequence ||
            !it.describe.starts_with("columns, contraction")) {
          continue;
        }
        for (const auto *pairs : {&graph.entries, &graph.exits}) {
          for (const segmenter::BoundaryPair &pair : *pairs) {
            const Sharding split = it.annotation.GetSharding(
                pair.activation,
                analysis->module.at(graph.values[pair.activation].origin).shape,
                mesh);
            EXPECT_EQ(split[1], 1) << it.describe;
            ++met;
          }
        }
      }
    }
    EXPECT_GT(met, 1);
  }
}

// ---- rules ----

TEST(RulesTest, APinLeavesABlockWhatItNames) {
  StrategyRequest request = Everything();
  request.blocks = {{"all", {"rows"}}, {"all", {"fully-sharded"}}};
  const Space it("llama_tiny", {1, 2}, request);
  const auto &configurations = it.space.types[it.layer()].configurations;
  ASSERT_EQ(configurations.size(), 1u);
  EXPECT_EQ(configurations[0].describe,
            "rows, rows, rows, rows; fully-sharded");
  EXPECT_THAT(it.analysis.strategies[0].lost[0].reason,
              HasSubstr("the request pins rows"));
}

// Layer 0 is not like layer 1 once a rule tells them apart.
TEST(RulesTest, ARuleForOneBlockTellsItsSegmentFromTheOthers) {
  StrategyRequest request;
  request.blocks = {{"0", {"columns"}}};
  const Space it("llama_tiny", {1, 2}, request);
  EXPECT_NE(it.analysis.type_of_segment[1], it.analysis.type_of_segment[2]);
  const auto &first = it.space.types[it.analysis.type_of_segment[1]];
  const auto &second = it.space.types[it.analysis.type_of_segment[2]];
  EXPECT_EQ(first.configurations.size(), 27u);
  EXPECT_EQ(second.configurations.size(), 81u);
}

TEST(RulesTest, AForbiddenStrategyIsLostWithItsReason) {
  StrategyRequest request;
  request.blocks = {{"1-3", {"contraction"}, true}};
  const Space it("llama_tiny", {1, 2}, request);
  EXPECT_EQ(it.analysis.strategies[1].strategies.size(), 2u);
  EXPECT_EQ(it.analysis.strategies[1].lost.back().reason,
            "the request forbids it");
}

TEST(RulesTest, BlocksAreNamedByTheirRootsToo) {
  StrategyRequest request;
  const auto analysis = AnalyzeSample("llama_tiny", {1, 2}, request);
  const auto &roots = analysis->blocks.blocks[2].roots;
  request.blocks = {{analysis->module.at(roots[0]).name(), {"replicated"}}};
  const auto pinned = AnalyzeSample("llama_tiny", {1, 2}, request);
  ASSERT_TRUE(pinned.ok()) << pinned.status();
  ASSERT_EQ(pinned->strategies[2].strategies.size(), 1u);
  EXPECT_EQ(pinned->strategies[2].strategies[0].name, "replicated");
}

TEST(RulesTest, APinnedArgumentComesAndGoesAsPinned) {
  const Space open("llama_tiny", {1, 2}, {});
  const auto &module = open.analysis.module;
  int argument = -1;  // the first matrix that is a parameter
  for (size_t p = 0; p < module.parameters.size() && argument < 0; ++p) {
    if (open.analysis.passes.roles[p] == ArgumentRole::kParameter &&
        module.at(module.parameters[p]).shape.rank() == 2) {
      argument = static_cast<int>(p);
    }
  }
  StrategyRequest request;
  request.arguments = {{argument, "[-,1]"}};
  const Space it("llama_tiny", {1, 2}, request);
  int met = 0;
  for (size_t s = 0; s < it.analysis.graphs.size(); ++s) {
    const SegmentTypeId type = it.analysis.type_of_segment[s];
    const SegmentGraph &graph = it.analysis.graphs[s];
    for (int i = 0; i < graph.input_count; ++i) {
      if (graph.values[i].origin != module.parameters[argument]) continue;
      for (const Configuration &each : it.space.types[type].configurations) {
        ++met;
        EXPECT_EQ(it.GetSharding(type, each, i), (Sharding{-1, 1}))
            << each.describe;
      }
    }
  }
  EXPECT_GT(met, 0);
}

TEST(RulesTest, AForbiddenShardingIsNoConfiguration) {
  const Space open("llama_tiny", {1, 2}, {});
  const SegmentTypeId layer = open.layer();
  int value = -1;  // a weight that some configuration splits along columns
  for (int i = 0; i < open.graph(layer).input_count && value < 0; ++i) {
    for (const Configuration &it : open.space.types[layer].configurations) {
      if (open.IsParameter(layer, i) &&
          open.GetSharding(layer, it, i) == Sharding{-1, 1}) {
        value = i;
      }
    }
  }
  ASSERT_GE(value, 0);
  const auto number =
      static_cast<int>(open.at(layer, value).attributes().parameter_number());
  StrategyRequest request;
  request.arguments = {{number, "[-,1]", true}};
  const Space it("llama_tiny", {1, 2}, request);
  const SegmentTypeId type =
      it.analysis.type_of_segment[open.analysis.types[layer]];
  EXPECT_LT(it.space.types[type].configurations.size(), 81u);
  for (const Configuration &each : it.space.types[type].configurations) {
    EXPECT_NE(it.GetSharding(type, each, value), (Sharding{-1, 1}));
  }
  request.arguments = {{number, "[-,1]", true},
                       {number, "[1,-]", true},
                       {number, "[-,-]", true}};
  const Space none("llama_tiny", {1, 2}, request);
  EXPECT_THAT(
      std::string(CheckConfigurations(none.analysis, none.space).message()),
      HasSubstr("no configuration"));
}

TEST(RulesTest, WhatDoesNotFitTheStepIsRefusedInOneSentence) {
  const auto message = [](const StrategyRequest &request) {
    return std::string(
        AnalyzeSample("llama_tiny", {1, 2}, request).status().message());
  };
  StrategyRequest request;
  request.blocks = {{"99", {"rows"}}};
  EXPECT_THAT(message(request), HasSubstr("the blocks 0 to 8"));
  request.blocks = {{"nobody", {"rows"}}};
  EXPECT_THAT(message(request), HasSubstr("names no block"));
  request.blocks = {{"0", {"diagonal"}}};
  EXPECT_THAT(message(request), HasSubstr("is no strategy"));
  request.blocks = {{"0", {"experts"}}};
  EXPECT_THAT(message(request), HasSubstr("block 0 cannot take experts"));
  request.blocks = {{"0", {"rows", "columns", "contraction"}, true}};
  EXPECT_THAT(message(request), HasSubstr("leave block 0 no strategy"));
  request.blocks = {{"0", {"fully-sharded"}}, {"1", {"sequence"}}};
  EXPECT_THAT(message(request), HasSubstr("no switch in common"));
  request.blocks = {};
  request.arguments = {{1000, "[1]"}};
  EXPECT_THAT(message(request), HasSubstr("no argument 1000"));
  request.arguments = {{0, "[7,7,7]"}};
  EXPECT_THAT(message(request), HasSubstr("cannot be sharded [7,7,7]"));
}

// ---- axes ----

TEST(AxesTest, OpenOuterAxesGiveEveryPairAndSmallerSegments) {
  StrategyRequest request;
  request.open_outer_axes = true;
  const auto analysis = AnalyzeSample("llama_tiny", {2, 2}, request);
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  std::set<std::string> names;
  for (const auto &it : analysis->strategies[1].strategies) {
    names.insert(it.name);
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre(
                         "rows/rows", "rows/columns", "rows/contraction",
                         "columns/rows", "columns/columns",
                         "columns/contraction", "contraction/rows",
                         "contraction/columns", "contraction/contraction"));
  for (const segmenter::Segment &segment : analysis->plan.segments) {
    size_t configurations = 1;
    for (int b = segment.first_block; b < segment.last_block; ++b) {
      configurations *= analysis->strategies[b].strategies.size();
    }
    EXPECT_LE(configurations, 128u);
  }
}

// A batch of 4 on 4 x 2 devices: the outer axis takes it all, and the inner one
// gets the next row dimension, not a split that would be dropped.
TEST(AxesTest, TwoAxesSplitADimensionOnlyIfItDividesByBoth) {
  const auto analysis = AnalyzeSample("llama_tiny", {4, 2}, {});
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  const auto &strategies = analysis->strategies[0].strategies;
  ASSERT_EQ(strategies[0].name, "rows");
  EXPECT_NE(strategies[0].axes[0].splits[0].out,
            strategies[0].axes[1].splits[0].out);
}

}  // namespace
}  // namespace meshwright::space
