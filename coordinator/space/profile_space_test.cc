#include "coordinator/space/profile_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/segmenter/testing/test_steps.h"

namespace meshwright::space {
namespace {

using segmenter::Analysis;
using segmenter::SegmentGraph;

Analysis Analyzed(const std::string& name, const Mesh& mesh) {
  auto analysis = segmenter::AnalyzeSample(name, mesh);
  EXPECT_TRUE(analysis.ok()) << analysis.status();
  return *std::move(analysis);
}

KeyContext MakeContext(const Mesh& mesh) {
  KeyContext context;
  context.mesh = mesh;
  context.device_kind = "cpu";
  return context;
}

struct Sample {
  const char* name;
  Mesh mesh;
};

class ProfileSpaceTest : public testing::TestWithParam<Sample> {
 protected:
  ProfileSpaceTest()
      : analysis_(Analyzed(GetParam().name, GetParam().mesh)),
        space_(BuildProfileSpace(analysis_, MakeContext(GetParam().mesh))) {}

  template <typename Visit>
  void ForEachConfiguration(Visit visit) const {
    for (size_t t = 0; t < space_.types.size(); ++t) {
      for (const Configuration& it : space_.types[t].configurations) {
        visit(analysis_.graphs[analysis_.types[t]], it);
      }
    }
  }

  Sharding GetSharding(const SegmentGraph& graph, const Configuration& it,
                       int value) const {
    return it.annotation.GetSharding(
        value, analysis_.module.at(graph.values[value].origin).shape,
        GetParam().mesh);
  }

  Analysis analysis_;
  ProfileSpace space_;
};

TEST_P(ProfileSpaceTest, EveryInstructionOfEveryProgramIsAnnotated) {
  for (const v1::Program& program : space_.programs) {
    hlo::HloModuleProto module;
    ASSERT_TRUE(module.ParseFromString(program.hlo_module()));
    for (const auto& computation : module.computations()) {
      if (computation.id() != module.entry_computation_id()) continue;
      for (const auto& it : computation.instructions()) {
        EXPECT_TRUE(it.has_sharding()) << program.label() << " " << it.name();
      }
    }
    EXPECT_TRUE(ir::BuildModule(module).ok())
        << program.label() << ": " << ir::BuildModule(module).status();
    EXPECT_EQ(program.inputs_size(),
              module.host_program_shape().parameters_size());
  }
}

// A contraction's demand on its operands must be one of its possible splits.
// These are the same batch dimension, one free dimension, or the two sides of a
// contracted one.
TEST_P(ProfileSpaceTest, EveryContractionIsSplitOneWay) {
  ForEachConfiguration([&](const SegmentGraph& graph,
                           const Configuration& configuration) {
    for (size_t i = graph.input_count; i < graph.values.size(); ++i) {
      const ir::ValueId origin = graph.values[i].origin;
      if (!ir::IsContraction(analysis_.module, origin)) continue;
      const ir::DotDims dims = ir::GetContractionDims(analysis_.module, origin);
      for (size_t axis = 0; axis < GetParam().mesh.size(); ++axis) {
        const AxisAnnotation& it = configuration.annotation.axes[axis];
        if (GetParam().mesh[axis] == 1) continue;
        const int value = static_cast<int>(i);
        ASSERT_TRUE(it.demands.contains({value, 0}));
        ASSERT_TRUE(it.demands.contains({value, 1}));
        const int lhs = it.demands.at({value, 0});
        const int rhs = it.demands.at({value, 1});
        const int out = it.split[value];
        const std::string where = analysis_.module.at(origin).name() + " in " +
                                  configuration.describe;
        if (lhs < 0 && rhs < 0) {
          EXPECT_EQ(out, kWhole) << where;
        } else if (lhs >= 0 && rhs >= 0) {
          EXPECT_EQ(dims.side[0][lhs].partner, rhs) << where;
          EXPECT_EQ(dims.side[0][lhs].output.value_or(kWhole), out) << where;
        } else {
          const int side = lhs >= 0 ? 0 : 1;
          const auto& dim = dims.side[side][std::max(lhs, rhs)];
          EXPECT_EQ(dim.role, ir::DotRole::kFree) << where;
          EXPECT_EQ(dim.output, out) << where;
        }
      }
    }
  });
}

TEST_P(ProfileSpaceTest, StateComesBackAsItWent) {
  ForEachConfiguration([&](const SegmentGraph& graph,
                           const Configuration& configuration) {
    for (const auto& [argument, updated] : graph.state) {
      EXPECT_EQ(
          GetSharding(graph, configuration, argument),
          configuration.annotation.GetLeaving(
              updated, analysis_.module.at(graph.values[updated].origin).shape,
              GetParam().mesh))
          << analysis_.module.at(graph.values[argument].origin).name();
    }
  });
}

TEST_P(ProfileSpaceTest, AGradientCrossesLikeItsActivation) {
  ForEachConfiguration(
      [&](const SegmentGraph& graph, const Configuration& configuration) {
        for (const auto* pairs : {&graph.entries, &graph.exits}) {
          for (const segmenter::BoundaryPair& pair : *pairs) {
            EXPECT_EQ(GetSharding(graph, configuration, pair.activation),
                      GetSharding(graph, configuration, pair.gradient));
          }
        }
      });
}

// Rows split the batch everywhere, so that no parameter is split; of the two
// contractions of a feed-forward, columns then contraction split both weights.
TEST_P(ProfileSpaceTest, RowsLeaveEveryParameterWhole) {
  ForEachConfiguration(
      [&](const SegmentGraph& graph, const Configuration& configuration) {
        const bool rows =
            !configuration.strategies.empty() &&
            configuration.describe.find("columns") == std::string::npos &&
            configuration.describe.find("contraction") == std::string::npos &&
            configuration.describe.find("experts") == std::string::npos;
        if (!rows) return;
        for (const auto& [argument, updated] : graph.state) {
          for (int dim : GetSharding(graph, configuration, argument))
            EXPECT_EQ(dim, -1);
        }
        for (const segmenter::BoundaryPair& pair : graph.entries) {
          for (size_t axis = 0; axis < GetParam().mesh.size(); ++axis) {
            EXPECT_EQ(GetSharding(graph, configuration, pair.activation)[axis],
                      GetParam().mesh[axis] > 1 ? 0 : -1);
          }
        }
      });
}

TEST_P(ProfileSpaceTest, KeysNameProgramsOnceAndForAll) {
  std::set<std::string> keys;
  for (const v1::Program& program : space_.programs) {
    EXPECT_TRUE(keys.insert(program.key()).second);
  }
  const ProfileSpace again =
      BuildProfileSpace(analysis_, MakeContext(GetParam().mesh));
  for (size_t i = 0; i < again.programs.size(); ++i) {
    EXPECT_EQ(again.programs[i].key(), space_.programs[i].key());
  }
  KeyContext other = MakeContext(GetParam().mesh);
  other.platform_version = "another";
  EXPECT_NE(BuildProfileSpace(analysis_, other).programs[0].key(),
            space_.programs[0].key());
}

TEST_P(ProfileSpaceTest, NoMoreProgramsThanCfpCounts) {
  // 81 (108) per layer type, nine per tensor that crosses, three per block of
  // the ends times the shardings of a shared embedding.
  EXPECT_LE(space_.segment_programs, 108 + 9 + 9);
  size_t tensors = 0;
  for (const Boundary& it : space_.boundaries) tensors += it.tensors.size();
  EXPECT_LE(space_.resharding_programs, static_cast<int>(tensors) * 9);
}

// The prologue of an encoder-decoder reaches segments of one type with other
// tensors each.
TEST_P(ProfileSpaceTest, ABoundaryHoldsWhatCrossesAtEachOfItsEdges) {
  using Origins = std::set<std::pair<ir::ValueId, ir::ValueId>>;
  for (const auto& [edge, index] : space_.edges) {
    const SegmentGraph& from = analysis_.graphs[edge.first];
    const SegmentGraph& to = analysis_.graphs[edge.second];
    Origins counted;
    for (const BoundaryTensor& it : space_.boundaries[index].tensors) {
      if (it.gradients == 0) continue;  // a value kept for the backward pass
      counted.emplace(from.values[it.from_value].origin,
                      to.values[it.to_value].origin);
    }
    Origins crossing;
    for (const segmenter::BoundaryPair& exit : from.exits) {
      for (const segmenter::BoundaryPair& entry : to.entries) {
        const ir::ValueId value = from.values[exit.activation].origin;
        if (to.values[entry.activation].origin == value) {
          crossing.emplace(value, value);
        }
      }
    }
    EXPECT_EQ(counted, crossing) << edge.first << " to " << edge.second;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ProfileSpaceTest,
    testing::Values(Sample{"llama_tiny", {1, 2}}, Sample{"gpt2_tiny", {1, 2}},
                    Sample{"bert_tiny", {1, 2}}, Sample{"moe_tiny", {1, 2}},
                    Sample{"llama_tiny", {2, 2}}, Sample{"moe_tiny", {1, 4}},
                    Sample{"t5_tiny", {1, 2}}, Sample{"convnet_tiny", {1, 2}},
                    Sample{"convnet_tiny", {2, 4}}),
    [](const auto& info) {
      return std::string(info.param.name) + "_" +
             std::to_string(info.param.mesh[0]) + "x" +
             std::to_string(info.param.mesh[1]);
    });

TEST(DeeperModelTest, NeedsNoNewProgram) {
  for (const std::string name : {"llama", "gpt2", "bert", "moe"}) {
    const Analysis shallow = Analyzed(name + "_2l", {1, 2});
    const Analysis deep = Analyzed(name + "_4l", {1, 2});
    std::set<std::string> known;
    for (const auto& it :
         BuildProfileSpace(shallow, MakeContext({1, 2})).programs) {
      known.insert(it.key());
    }
    for (const auto& it :
         BuildProfileSpace(deep, MakeContext({1, 2})).programs) {
      EXPECT_TRUE(known.contains(it.key())) << name << " " << it.label();
    }
  }
}

}  // namespace
}  // namespace meshwright::space
