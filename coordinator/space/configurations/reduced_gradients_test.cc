#include "coordinator/space/configurations/reduced_gradients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/segmenter/direction/forward_backward.h"
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

// Of a step in plain gradient descent: y = x merged, on two devices.
struct MergedStep {
  std::string aliases;
  std::string forward;  // makes `merged` of weights and of `frozen`
  std::string update;   // takes `d_merged`
};

std::string MergedText(const MergedStep& step) {
  return absl::Substitute(R"(
HloModule merged, input_output_alias={ $0 }
sum {
  left = f32[] parameter(0)
  right = f32[] parameter(1)
  ROOT both = f32[] add(left, right)
}
ENTRY main {
  x = f32[8,32] parameter(0)
  frozen = f32[32,64] parameter(1)
  zero = f32[] constant(0)
$1
  y = f32[8,64] dot(x, merged), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  square = f32[8,64] multiply(y, y)
  loss = f32[] reduce(square, zero), dimensions={0,1}, to_apply=sum
  d_y = f32[8,64] add(y, y)
  d_merged = f32[32,64] dot(x, d_y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
$2
}
)",
                          step.aliases, step.forward, step.update);
}

// The reduced bytes where the block of y is split by rows.
std::vector<int64_t> CountWhereRowsAreSplit(const MergedStep& step) {
  const Mesh mesh = {1, 2};
  const auto module = ir::LoadModule(MergedText(step));
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {};
  const auto analysis = segmenter::Analyze(*module, mesh);
  EXPECT_TRUE(analysis.ok()) << analysis.status();
  if (!analysis.ok()) return {};
  KeyContext context;
  context.mesh = mesh;
  const ProfileSpace space = BuildProfileSpace(*analysis, context);
  const int blocks = static_cast<int>(analysis->blocks.blocks.size());
  std::vector<int64_t> counts;
  for (segmenter::SegmentTypeId t; t < analysis->types.size(); ++t) {
    if (analysis->plan.segments[analysis->types[t]].last_block != blocks) {
      continue;
    }
    for (const Configuration& it : space.types[t].configurations) {
      if (it.strategies.empty() ||
          it.segment_switch != segmenter::SegmentSwitch::kNone) {
        continue;
      }
      const auto& last = analysis->strategies.back().strategies;
      if (last[it.strategies.back()].axes[1].kind == StrategyKind::kRows) {
        counts.push_back(it.reduced_bytes);
      }
    }
  }
  EXPECT_FALSE(counts.empty());
  return counts;
}

constexpr int64_t kMergedBytes = int64_t{32} * 64 * 4;

TEST(MergedWeightsTest, TheGradientOfAMaskedWeightIsReduced) {
  const MergedStep step = {"{0}: (2, {}, may-alias)",
                           R"(
  w = f32[32,64] parameter(2)
  merged = f32[32,64] multiply(w, frozen)
)",
                           R"(
  d_w = f32[32,64] multiply(d_merged, frozen)
  new_w = f32[32,64] subtract(w, d_w)
  ROOT out = (f32[32,64], f32[]) tuple(new_w, loss)
)"};
  EXPECT_THAT(CountWhereRowsAreSplit(step), testing::Each(kMergedBytes));
}

// Makes `merged` of `frozen` and of the product of an adapter, as LoRA does.
MergedStep AdapterStep(const std::string& merged) {
  return {"{0}: (2, {}, may-alias), {1}: (3, {}, may-alias)",
          absl::StrCat(R"(
  a = f32[32,4] parameter(2)
  b = f32[4,64] parameter(3)
  product = f32[32,64] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
)",
                       merged),
          R"(
  d_a = f32[32,4] dot(d_merged, b), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  d_b = f32[4,64] dot(a, d_merged), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  new_a = f32[32,4] subtract(a, d_a)
  new_b = f32[4,64] subtract(b, d_b)
  ROOT out = (f32[32,4], f32[4,64], f32[]) tuple(new_a, new_b, loss)
)"};
}

// The product is a block of its own, and may be split as well.
TEST(MergedWeightsTest, TheGradientOfAWeightWithAnAdapterIsReduced) {
  const MergedStep step = AdapterStep(R"(
  merged = f32[32,64] add(frozen, product)
)");
  EXPECT_THAT(CountWhereRowsAreSplit(step),
              testing::Each(testing::Ge(kMergedBytes)));
}

// The forward values that are forms of a weight.
std::vector<std::string> ListForms(const MergedStep& step) {
  const auto module = ir::LoadModule(MergedText(step));
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {};
  const auto passes = segmenter::FindForwardBackward(*module);
  EXPECT_TRUE(passes.ok()) << passes.status();
  if (!passes.ok()) return {};
  std::vector<std::string> names;
  for (const ir::ValueId id : module->ids()) {
    if (passes->forward[id] && passes->weight_form[id]) {
      names.push_back(module->at(id).name());
    }
  }
  return names;
}

// A norm's scale meets the batch behind a broadcast: it is no mask.
TEST(MergedWeightsTest, OnlyFormsOfAWeightStayWeights) {
  const MergedStep step = {"{0}: (2, {}, may-alias)",
                           R"(
  scale = f32[32] parameter(2)
  scales = f32[8,32] broadcast(scale), dimensions={1}
  scaled = f32[8,32] multiply(x, scales)
  product = f32[8,64] dot(scaled, frozen), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  merged = f32[32,64] dot(scaled, product), lhs_contracting_dims={0}, rhs_contracting_dims={0}
)",
                           R"(
  taken = f32[32] reduce(d_merged, zero), dimensions={1}, to_apply=sum
  new_scale = f32[32] subtract(scale, taken)
  ROOT out = (f32[32], f32[]) tuple(new_scale, loss)
)"};
  EXPECT_THAT(ListForms(step), testing::ElementsAre("scale"));
}

// The adapter's product is in the norm as well; each column is divided by its
// own.
TEST(MergedWeightsTest, AMergedWeightWithANormIsAForm) {
  const MergedStep step = AdapterStep(R"(
  added = f32[32,64] add(frozen, product)
  norm = f32[64] reduce(added, zero), dimensions={0}, to_apply=sum
  norms = f32[32,64] broadcast(norm), dimensions={1}
  merged = f32[32,64] divide(added, norms)
)");
  EXPECT_THAT(ListForms(step), testing::UnorderedElementsAre(
                                   "a", "b", "product", "added", "merged"));
}

// A frozen weight that is kept in codes: QLoRA.
TEST(MergedWeightsTest, AWeightOfCodesWithAnAdapterIsAForm) {
  const MergedStep step = AdapterStep(R"(
  flat = s32[32,64] convert(frozen)
  codes = s32[32,64,1] reshape(flat)
  codebook = f32[16] iota(), iota_dimension=0
  weight = f32[32,64] gather(codebook, codes), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1}
  merged = f32[32,64] add(weight, product)
)");
  EXPECT_THAT(ListForms(step),
              testing::UnorderedElementsAre("a", "b", "product", "merged"));
}

// Makes `merged` of h [8,32], and a gradient of h's dimensions of `d_merged`.
MergedStep PositionsStep(const std::string& h) {
  return {"{0}: (2, {}, may-alias)",
          absl::StrCat(R"(
  positions = f32[8,32] parameter(2)
)",
                       h, R"(
  product = f32[8,64] dot(h, frozen), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  merged = f32[32,64] dot(h, product), lhs_contracting_dims={0}, rhs_contracting_dims={0}
)"),
          R"(
  taken = f32[8,32] dot(y, d_merged), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  new_positions = f32[8,32] subtract(positions, taken)
  ROOT out = (f32[8,32], f32[]) tuple(new_positions, loss)
)"};
}

// With a batch of one nothing is broadcast.
TEST(MergedWeightsTest, ActivationsThatPositionsAreAddedToAreNoForms) {
  EXPECT_THAT(ListForms(PositionsStep(R"(
  table = f32[32,32] parameter(3)
  tokens = f32[8,32] dot(x, table), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  h = f32[8,32] add(tokens, positions)
)")),
              testing::ElementsAre("positions"));
}

TEST(MergedWeightsTest, GatheredPositionsAreNoForms) {
  EXPECT_THAT(ListForms(PositionsStep(R"(
  places = s32[8,1] iota(), iota_dimension=0
  gathered = f32[8,32] gather(positions, places), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,32}
  h = f32[8,32] add(x, gathered)
)")),
              testing::ElementsAre("positions"));
}

TEST(MergedWeightsTest, NoActivationOfASampleIsAForm) {
  for (const char* name :
       {"albert_tiny", "bert_tiny", "clip_tiny", "gpt2_tiny", "whisper_tiny"}) {
    const ir::Module module = segmenter::LoadSample(name);
    const auto passes = segmenter::FindForwardBackward(module);
    ASSERT_TRUE(passes.ok()) << passes.status();
    for (const ir::ValueId id : module.ids()) {
      EXPECT_FALSE(passes->forward[id] && passes->batch_derived[id] &&
                   passes->weight_form[id])
          << name << " " << module.at(id).name();
    }
  }
}

}  // namespace
}  // namespace meshwright::space
