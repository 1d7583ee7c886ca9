#include "coordinator/operators/step_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "absl/strings/str_cat.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "planner/symbolic/profile.h"

namespace meshwright::operators {
namespace {

using symbolic::Operation;
using symbolic::Storage;
using ::testing::ElementsAre;

constexpr symbolic::Device kStepDevice{.flops_per_second = 1e12,
                                       .bytes_per_second = 1e11};

struct Graph {
  symbolic::OpGraph graph;
  std::map<std::string, int> index;

  const Operation& at(const std::string& name) const {
    return graph.operations[index.at(name)];
  }
};

Graph Read(const std::string& text) {
  const auto module = ir::LoadModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  Graph read{ReadModule(*module), {}};
  EXPECT_TRUE(symbolic::Validate(read.graph).ok());
  for (const ir::ValueId id : module->ids()) {
    read.index[module->at(id).name()] = id;
  }
  return read;
}

TEST(StepGraphTest, WhatIsMovedIsTouchedAndTheRestIsNot) {
  const Graph read = Read(R"(HloModule moves
ENTRY main {
  x = f32[100,4] parameter(0)
  i = s32[3,1] parameter(1)
  u = f32[3,4] parameter(2)
  at = s32[] parameter(3)
  cut = f32[10,4] slice(x), slice={[0:10], [0:4]}
  rows = f32[3,4] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}
  put = f32[100,4] dynamic-update-slice(x, u, at, at)
  flat = f32[400] reshape(put)
  ROOT out = (f32[10,4], f32[3,4], f32[400]) tuple(cut, rows, flat)
})");
  const auto reads = [&](const std::string& name) {
    std::vector<int64_t> bytes;
    for (const symbolic::Read& it : read.at(name).reads) {
      bytes.push_back(it.bytes);
    }
    return bytes;
  };
  EXPECT_THAT(reads("cut"), ElementsAre(160));
  EXPECT_EQ(read.at("cut").written_bytes, 160);
  EXPECT_THAT(reads("rows"), ElementsAre(48, 12));
  EXPECT_THAT(reads("put"), ElementsAre(0, 48, 4, 4));
  EXPECT_EQ(read.at("put").written_bytes, 48);
  EXPECT_EQ(read.at("put").bytes, 1600);
  EXPECT_EQ(read.at("flat").storage, Storage::kView);
  EXPECT_EQ(read.at("flat").written_bytes, 0);
}

TEST(StepGraphTest, ALoopIsRunAsOftenAsItCounts) {
  const Graph read = Read(R"(HloModule loop
body {
  c = (s32[], f32[8,8]) parameter(0)
  n = s32[] get-tuple-element(c), index=0
  x = f32[8,8] get-tuple-element(c), index=1
  one = s32[] constant(1)
  next = s32[] add(n, one)
  y = f32[8,8] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = (s32[], f32[8,8]) tuple(next, y)
}
cond {
  c = (s32[], f32[8,8]) parameter(0)
  n = s32[] get-tuple-element(c), index=0
  limit = s32[] constant(7)
  ROOT r = pred[] compare(n, limit), direction=LT
}
ENTRY main {
  x = f32[8,8] parameter(0)
  zero = s32[] constant(0)
  doubled = f32[8,8] add(x, x)
  start = (s32[], f32[8,8]) tuple(zero, doubled)
  loop = (s32[], f32[8,8]) while(start), condition=cond, body=body
  ROOT out = f32[8,8] get-tuple-element(loop), index=1
})");
  EXPECT_EQ(read.at("y").trips, 7);
  EXPECT_EQ(read.at("doubled").trips, 1);
  const auto profile = symbolic::ProfileStep(read.graph, kStepDevice);
  ASSERT_TRUE(profile.ok());
  // Seven products, seven counts, one sum.
  EXPECT_EQ(profile->total.counts.flops, 7 * (2 * 8 * 8 * 8 + 1) + 64);
  // Values that enter the loop are there before it starts.
  EXPECT_GE(profile->footprint.temporary_bytes, 256);
}

TEST(StepGraphTest, NewStateIsNoMemoryOfItsOwn) {
  const Graph read =
      Read(R"(HloModule update, input_output_alias={ {0}: (0, {}, may-alias) }
ENTRY main {
  w = f32[64] parameter(0)
  g = f32[64] parameter(1)
  new = f32[64] subtract(w, g)
  norm = f32[64] multiply(g, g)
  ROOT out = (f32[64], f32[64]) tuple(new, norm)
})");
  const auto profile = symbolic::ProfileStep(read.graph, kStepDevice);
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(profile->footprint.argument_bytes, 512);
  EXPECT_EQ(profile->footprint.output_bytes, 256);
  EXPECT_EQ(profile->footprint.temporary_bytes, 0);
}

class StepGraphSampleTest : public testing::TestWithParam<const char*> {};

TEST_P(StepGraphSampleTest, SegmentsAndOperatorsCoverTheStep) {
  const auto analysis = segmenter::AnalyzeSample(GetParam(), {1, 2});
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  const symbolic::OpGraph graph = ReadStep(*analysis);
  const auto profile = symbolic::ProfileStep(graph, kStepDevice);
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_GT(profile->total.counts.flops, 0);
  EXPECT_GT(profile->footprint.saved_bytes, 0);
  EXPECT_LE(
      profile->footprint.saved_bytes,
      profile->footprint.temporary_bytes + profile->footprint.output_bytes);
  // A contraction with both gradients does three times its own arithmetic.
  int whole = 0;
  for (const auto& [id, gradient] : analysis->gradients) {
    if (gradient.recomputation) continue;
    const auto& operators = profile->operators[gradient.forward];
    const auto& forward = profile->operations[gradient.forward];
    if (operators.operations < 3) continue;
    EXPECT_GE(operators.counts.flops, 3 * forward.counts.flops);
    ++whole;
  }
  EXPECT_GT(whole, 4);
  // Equal segments cost alike.
  std::map<segmenter::SegmentTypeId, size_t> first_of_type;
  for (size_t s = 0; s < analysis->plan.segments.size(); ++s) {
    const auto [found, added] =
        first_of_type.emplace(analysis->type_of_segment[s], s);
    if (added) continue;
    EXPECT_EQ(profile->segments[s].counts,
              profile->segments[found->second].counts);
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, StepGraphSampleTest,
                         testing::Values("llama_tiny", "gpt2_tiny", "moe_tiny",
                                         "t5_tiny", "unet_tiny", "scan_tiny",
                                         "accumulate_tiny", "albert_tiny"));

}  // namespace
}  // namespace meshwright::operators
