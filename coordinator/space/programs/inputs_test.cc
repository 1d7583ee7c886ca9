#include "coordinator/space/programs/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/ir/load/load.h"

namespace meshwright::space {
namespace {

// One embedding, one stack of weights that a loop reads layer by layer, a
// running variance, Adam's moments for one of them.
constexpr char kStep[] = R"(
HloModule step, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias), {2}: (2, {}, may-alias), {3}: (3, {}, may-alias) }

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

ENTRY step {
  table = f32[50,64] parameter(0)
  weight = f32[64,32] parameter(1)
  first = f32[64,32] parameter(2)
  second = f32[64,32] parameter(3)
  variance = f32[64] parameter(4)
  tokens = s32[8] parameter(5)
  labels = s32[8] parameter(6)
  mask = s32[8] parameter(7)
  count = s32[] parameter(8)
  zero = f32[] constant(0)
  small = f32[] constant(0.001)
  indices = s32[8,1] reshape(tokens)
  rows = f32[8,64] gather(table, indices), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,64}
  smalls = f32[64] broadcast(small), dimensions={}
  safe = f32[64] add(variance, smalls)
  inverse = f32[64] rsqrt(safe)
  inverses = f32[8,64] broadcast(inverse), dimensions={1}
  normed = f32[8,64] multiply(rows, inverses)
  logits = f32[8,32] dot(normed, weight), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  classes = s32[8,32] iota(), iota_dimension=1
  wanted = s32[8,32] broadcast(labels), dimensions={0}
  hits = pred[8,32] compare(classes, wanted), direction=EQ
  targets = f32[8,32] convert(hits)
  flags = f32[8] convert(mask)
  weights = f32[8,32] broadcast(flags), dimensions={0}
  kept = f32[8,32] multiply(targets, weights)
  errors = f32[8,32] subtract(logits, kept)
  loss = f32[] reduce(errors, zero), dimensions={0,1}, to_apply=add
  gradient = f32[64,32] dot(normed, errors), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  new_first = f32[64,32] add(first, gradient)
  squares = f32[64,32] multiply(gradient, gradient)
  new_second = f32[64,32] add(second, squares)
  root = f32[64,32] sqrt(new_second)
  update = f32[64,32] divide(new_first, root)
  new_weight = f32[64,32] add(weight, update)
  backward = f32[8,64] dot(errors, weight), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  spread = f32[50,64] broadcast(zero), dimensions={}
  table_gradient = f32[50,64] scatter(spread, indices, backward), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
  new_table = f32[50,64] add(table, table_gradient)
  ROOT result = (f32[50,64], f32[64,32], f32[64,32], f32[64,32], f32[], s32[]) tuple(new_table, new_weight, new_first, new_second, loss, count)
}
)";

// The bound of the one argument of an entry that gathers from f32[34,4].
int64_t InferBound(const std::string& body) {
  auto module = ir::LoadModule(R"(
HloModule gathers

ENTRY gathers {
  ids = s32[8] parameter(0)
  table = f32[34,4] parameter(1)
  two = s32[] constant(2)
  twos = s32[8] broadcast(two), dimensions={}
)" + body + R"(
  places = s32[8,1] reshape(last)
  ROOT rows = f32[8,4] gather(table, places), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}
}
)");
  EXPECT_TRUE(module.ok()) << module.status();
  auto analysis = segmenter::Analyze(*std::move(module), {1, 2});
  EXPECT_TRUE(analysis.ok()) << analysis.status();
  return MakeArgumentInputs(*analysis)[0].bound();
}

TEST(IndexBoundTest, WhatIsAddedLeavesLessRoom) {
  EXPECT_EQ(InferBound("last = s32[8] add(ids, twos)"), 32);
}

// jnp.take wraps indices below zero: select(ids < 0, ids + size, ids).
TEST(IndexBoundTest, WrappingLeavesTheWholeRange) {
  EXPECT_EQ(InferBound(R"(
  zero = s32[] constant(0)
  zeros = s32[8] broadcast(zero), dimensions={}
  below = pred[8] compare(ids, zeros), direction=LT
  size = s32[] constant(34)
  sizes = s32[8] broadcast(size), dimensions={}
  wrapped = s32[8] add(ids, sizes)
  last = s32[8] select(below, wrapped, ids))"),
            34);
}

// A mask times a position is no position.
TEST(IndexBoundTest, FactorsAreFlags) {
  EXPECT_EQ(InferBound("last = s32[8] multiply(ids, twos)"), 2);
}

// In inference weights have the role of the batch, as x has.
TEST(InferenceInputsTest, WeightsKeepTheSizeOfWhatTheyMultiply) {
  auto module = ir::LoadModule(R"(
HloModule inference

ENTRY main {
  x = f16[8,64] parameter(0)
  w = f16[32,64] parameter(1)
  turned = f16[64,32] transpose(w), dimensions={1,0}
  ROOT y = f16[8,32] dot(x, turned), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)");
  ASSERT_TRUE(module.ok()) << module.status();
  auto analysis = segmenter::Analyze(*std::move(module), {1, 2});
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  const std::vector<v1::InputSpec> inputs = MakeArgumentInputs(*analysis);
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_DOUBLE_EQ(inputs[0].scale(), 1);
  EXPECT_DOUBLE_EQ(inputs[1].scale(), 1.0 / 8);
}

class InputsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto module = ir::LoadModule(kStep);
    ASSERT_TRUE(module.ok()) << module.status();
    auto analysis = segmenter::Analyze(*std::move(module), {1, 2});
    ASSERT_TRUE(analysis.ok()) << analysis.status();
    inputs_ = MakeArgumentInputs(*analysis);
    ASSERT_EQ(inputs_.size(), 9u);
  }

  std::vector<v1::InputSpec> inputs_;
};

TEST_F(InputsTest, WeightsKeepTheSizeOfWhatTheyMultiply) {
  EXPECT_EQ(inputs_[1].kind(), v1::InputSpec::NORMAL);
  EXPECT_DOUBLE_EQ(inputs_[1].scale(), 1.0 / 8);
}

TEST_F(InputsTest, TablesAreOfOrderOne) {
  EXPECT_EQ(inputs_[0].kind(), v1::InputSpec::NORMAL);
  EXPECT_DOUBLE_EQ(inputs_[0].scale(), 0.5);
}

// A new moment shows a wrong gradient only if the old one does not drown it.
TEST_F(InputsTest, FirstMomentsAreSmall) {
  EXPECT_EQ(inputs_[2].kind(), v1::InputSpec::NORMAL);
  EXPECT_LE(inputs_[2].scale(), 1e-2 * inputs_[1].scale());
}

TEST_F(InputsTest, WhatMeetsASquareRootIsPositive) {
  EXPECT_EQ(inputs_[3].kind(), v1::InputSpec::POSITIVE);
  EXPECT_EQ(inputs_[4].kind(), v1::InputSpec::POSITIVE);
}

TEST_F(InputsTest, IndicesStayInTheRangeOfWhatTheyIndex) {
  EXPECT_EQ(inputs_[5].kind(), v1::InputSpec::INDEX);
  EXPECT_EQ(inputs_[5].bound(), 50);
  EXPECT_EQ(inputs_[6].bound(), 32);
  EXPECT_EQ(inputs_[7].bound(), 2);
}

TEST_F(InputsTest, StepCountsAreAtLeastOne) {
  EXPECT_EQ(inputs_[8].kind(), v1::InputSpec::CONSTANT);
  EXPECT_DOUBLE_EQ(inputs_[8].value(), 1);
}

TEST_F(InputsTest, SeedsTellArgumentsApart) {
  EXPECT_NE(inputs_[1].seed(), inputs_[2].seed());
}

}  // namespace
}  // namespace meshwright::space
