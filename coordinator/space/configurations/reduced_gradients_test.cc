#include "coordinator/space/configurations/reduced_gradients.h"

#include <gtest/gtest.h>

#include "coordinator/ir/load/load.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/space/profile_space.h"

namespace meshwright::space {
namespace {

using segmenter::StrategyKind;

// Layers of two matrices, each updated in the segment that reads it.
class ReducedGradientsTest : public testing::TestWithParam<Mesh> {
 protected:
  ReducedGradientsTest()
      : analysis_(*segmenter::Analyze(
            *ir::LoadModule(segmenter::ScaledFeaturesText(2)), GetParam())) {
    KeyContext context;
    context.mesh = GetParam();
    space_ = BuildProfileSpace(analysis_, context);
  }

  // How many blocks of a configuration an axis splits by rows.
  size_t CountRows(const segmenter::Segment& segment, const Configuration& it,
                   size_t axis) const {
    size_t rows = 0;
    for (size_t b = 0; b < it.strategies.size(); ++b) {
      const auto& set =
          analysis_.strategies[segment.first_block + b].strategies;
      rows += set[it.strategies[b]].axes[axis].kind == StrategyKind::kRows;
    }
    return rows;
  }

  // Calls `visit` with the bytes of a configuration's state on one device, and
  // whether an axis splits all its blocks by rows.
  template <typename Visit>
  void ForEachClearOne(Visit visit) const {
    for (segmenter::SegmentTypeId t; t < analysis_.types.size(); ++t) {
      const segmenter::SegmentIndex segment = analysis_.types[t];
      const segmenter::SegmentGraph& graph = analysis_.graphs[segment];
      for (const Configuration& it : space_.types[t].configurations) {
        if (it.strategies.empty() ||
            it.segment_switch != segmenter::SegmentSwitch::kNone) {
          continue;
        }
        bool all = false;
        bool any = false;
        for (size_t axis = 0; axis < GetParam().size(); ++axis) {
          if (GetParam()[axis] == 1) continue;
          const size_t rows =
              CountRows(analysis_.plan.segments[segment], it, axis);
          all |= rows == it.strategies.size();
          any |= rows > 0;
        }
        if (all != any) continue;
        int64_t state = 0;
        for (const auto& [argument, updated] : graph.state) {
          const ir::Shape& shape =
              analysis_.module.at(graph.values[argument].origin).shape;
          state += CountBytesPerDevice(
              shape, it.annotation.GetSharding(argument, shape, GetParam()),
              GetParam());
        }
        visit(it, state, all);
      }
    }
  }

  segmenter::Analysis analysis_;
  ProfileSpace space_;
};

TEST_P(ReducedGradientsTest, RowsReduceAllGradientsAndOtherSplitsNone) {
  int of_rows = 0;
  int of_others = 0;
  ForEachClearOne([&](const Configuration& it, int64_t state, bool rows) {
    EXPECT_EQ(it.reduced_bytes, rows ? state : 0) << it.describe;
    ++(rows ? of_rows : of_others);
  });
  EXPECT_GT(of_rows, 0);
  // An outer axis splits rows only.
  EXPECT_EQ(of_others > 0, GetParam()[0] == 1);
}

INSTANTIATE_TEST_SUITE_P(Meshes, ReducedGradientsTest,
                         testing::Values(Mesh{1, 2}, Mesh{2, 2}));

TEST(ReducedGradientsOfInferenceTest, ThereAreNone) {
  const auto module = ir::LoadModule(R"(
HloModule inference

ENTRY main {
  x = f32[8,16] parameter(0)
  w = f32[16,32] parameter(1)
  ROOT y = f32[8,32] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto analysis = segmenter::Analyze(*module, {1, 2});
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  KeyContext context;
  context.mesh = {1, 2};
  for (const SegmentType& type : BuildProfileSpace(*analysis, context).types) {
    for (const Configuration& it : type.configurations) {
      EXPECT_EQ(it.reduced_bytes, 0) << it.describe;
    }
  }
}

}  // namespace
}  // namespace meshwright::space
