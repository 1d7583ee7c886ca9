#include "coordinator/space/annotation/state_sharding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/space/profile_space.h"

namespace meshwright::space {
namespace {

using segmenter::Analysis;
using segmenter::SegmentGraph;
using segmenter::SegmentSwitch;

class LoopStateTest : public testing::TestWithParam<SegmentSwitch> {
 protected:
  void Read(const std::string& name) {
    segmenter::StrategyRequest request;
    request.switches = {GetParam()};
    analysis_ = *segmenter::AnalyzeSample(name, mesh_, request);
    KeyContext context;
    context.mesh = mesh_;
    space_ = BuildProfileSpace(analysis_, context);
  }

  // Data parallel with the switch, and without it.
  template <typename Check>
  void ForEachPair(const Check& check) const {
    int met = 0;
    for (size_t t = 0; t < space_.types.size(); ++t) {
      for (const Configuration& it : space_.types[t].configurations) {
        const std::string plain = "rows, rows, rows, rows";
        if (it.describe != plain + "; " + segmenter::NameSwitch(GetParam())) {
          continue;
        }
        for (const Configuration& other : space_.types[t].configurations) {
          if (other.describe != plain) continue;
          check(analysis_.graphs[analysis_.types[t]], it, other);
          ++met;
        }
      }
    }
    EXPECT_GT(met, 0);
  }

  const ir::Instruction& At(const SegmentGraph& graph, int value) const {
    return analysis_.module.at(graph.values[value].origin);
  }

  // Writes of gradients to the stack of a layer's shape.
  std::set<int> StackedGradients(const SegmentGraph& graph) const {
    std::set<int> found;
    for (int i = graph.input_count; i < static_cast<int>(graph.values.size());
         ++i) {
      if (At(graph, i).opcode == ir::Opcode::kDynamicUpdateSlice &&
          !analysis_.passes.forward[graph.values[i].origin]) {
        found.insert(i);
      }
    }
    return found;
  }

  const Mesh mesh_ = {1, 2};
  Analysis analysis_;
  ProfileSpace space_;
};

TEST_P(LoopStateTest, ATripWritesItsPartOfTheStackedGradients) {
  Read("scan_tiny");
  ForEachPair([&](const SegmentGraph& graph, const Configuration& it,
                  const Configuration&) {
    const std::set<int> writes = StackedGradients(graph);
    ASSERT_FALSE(writes.empty());
    for (int write : writes) {
      const Sharding own =
          it.annotation.GetSharding(write, At(graph, write).shape, mesh_);
      // Every stack has a dimension of a layer that two divides.
      EXPECT_GT(own[1], 0) << At(graph, write).name();
      for (int k : {0, 1}) {
        const int operand = graph.values[write].operands[k];
        EXPECT_EQ(it.annotation.GetDemanded(write, k, operand,
                                            At(graph, operand).shape, mesh_),
                  own);
      }
    }
  });
}

// A carry is what the trip before left, in the same split.
TEST_P(LoopStateTest, LoopsCarryWhatTheyAreGiven) {
  Read("scan_tiny");
  ForEachPair([&](const SegmentGraph& graph, const Configuration& it,
                  const Configuration&) {
    for (int i = graph.input_count; i < static_cast<int>(graph.values.size());
         ++i) {
      if (At(graph, i).opcode != ir::Opcode::kLoopResult) continue;
      const ir::Loop& loop =
          analysis_.module.loops[At(graph, i).boundary->loop];
      for (int c = 0; c < i; ++c) {
        if (graph.values[c].origin !=
            loop.carries[At(graph, i).boundary->element]) {
          continue;
        }
        EXPECT_EQ(it.annotation.GetSharding(c, At(graph, c).shape, mesh_),
                  it.annotation.GetSharding(i, At(graph, i).shape, mesh_))
            << At(graph, i).name();
      }
    }
  });
}

// State of an optimizer is split as its gradient is, not layer by layer.
TEST_P(LoopStateTest, NoStateIsSplitByLayers) {
  Read("scan_tiny");
  ForEachPair([&](const SegmentGraph& graph, const Configuration& it,
                  const Configuration& plain) {
    EXPECT_LT(it.persistent_bytes, plain.persistent_bytes);
    for (const auto& [argument, updated] : graph.state) {
      const ir::Shape& shape = At(graph, argument).shape;
      EXPECT_NE(it.annotation.GetSharding(argument, shape, mesh_)[1], 0)
          << At(graph, argument).name();
      EXPECT_NE(it.annotation.GetSharding(updated, shape, mesh_)[1], 0)
          << At(graph, updated).name();
    }
  });
}

TEST_P(LoopStateTest, SumsOverMicroBatchesAreSplitToo) {
  Read("accumulate_tiny");
  ForEachPair([&](const SegmentGraph&, const Configuration& it,
                  const Configuration& plain) {
    ASSERT_GT(plain.summed_bytes, 0);
    EXPECT_EQ(it.summed_bytes, plain.summed_bytes / 2);
  });
}

INSTANTIATE_TEST_SUITE_P(All, LoopStateTest,
                         testing::Values(SegmentSwitch::kFullySharded,
                                         SegmentSwitch::kOptimizerSharded),
                         [](const auto& info) {
                           return info.param == SegmentSwitch::kFullySharded
                                      ? "full"
                                      : "optimizer";
                         });

}  // namespace
}  // namespace meshwright::space
