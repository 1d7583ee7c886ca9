#include "coordinator/ir/constants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "coordinator/ir/load/load.h"
#include "coordinator/ir/write.h"

namespace meshwright::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

hlo::LiteralProto Literal(hlo::PrimitiveType type, std::vector<int64_t> dims,
                          std::vector<int64_t> minor_to_major) {
  hlo::LiteralProto literal;
  literal.mutable_shape()->set_element_type(type);
  for (int64_t dim : dims) literal.mutable_shape()->add_dimensions(dim);
  for (int64_t dim : minor_to_major) {
    literal.mutable_shape()->mutable_layout()->add_minor_to_major(dim);
  }
  return literal;
}

TEST(ConstantsTest, AColumnMajorLiteralBecomesRowMajor) {
  hlo::LiteralProto literal = Literal(hlo::S32, {2, 3}, {0, 1});
  for (int value : {1, 4, 2, 5, 3, 6}) literal.add_s32s(value);
  ToDefaultLayout(literal);
  EXPECT_THAT(literal.s32s(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(literal.shape().layout().minor_to_major(), ElementsAre(1, 0));
}

TEST(ConstantsTest, ThreeDimensionsAndWideElements) {
  // Logical element (i, j, k) is 100 i + 10 j + k; the layout puts j last.
  hlo::LiteralProto literal = Literal(hlo::U16, {2, 2, 2}, {1, 2, 0});
  for (int value : {0, 10, 1, 11, 100, 110, 101, 111}) {
    literal.mutable_u16s()->push_back(static_cast<char>(value));
    literal.mutable_u16s()->push_back(0);
  }
  ToDefaultLayout(literal);
  std::string expected;
  for (int value : {0, 1, 10, 11, 100, 101, 110, 111}) {
    expected.push_back(static_cast<char>(value));
    expected.push_back(0);
  }
  EXPECT_EQ(literal.u16s(), expected);
}

TEST(ConstantsTest, ALiteralThatDoesNotFitItsShapeIsLeftAlone) {
  hlo::LiteralProto literal = Literal(hlo::F32, {2, 3}, {0, 1});
  literal.add_f32s(1);
  ToDefaultLayout(literal);
  EXPECT_THAT(literal.f32s(), ElementsAre(1));
  hlo::LiteralProto huge =
      Literal(hlo::F32, {int64_t{1} << 30, int64_t{1} << 30}, {0, 1});
  huge.add_f32s(1);
  ToDefaultLayout(huge);
  EXPECT_THAT(huge.f32s(), ElementsAre(1));
  hlo::LiteralProto empty = Literal(hlo::F32, {1 << 20, 1 << 20}, {0, 1});
  ToDefaultLayout(empty);
  EXPECT_TRUE(empty.f32s().empty());
}

TEST(ConstantsTest, AWrittenProgramHasItsConstantsInTheDefaultOrder) {
  hlo::HloModuleProto proto = *ParseModule(
      "HloModule m\nENTRY e {\n"
      "  ROOT c = s32[2,2] constant({{1, 2}, {3, 4}})\n}\n");
  auto& it = *proto.mutable_computations(0)->mutable_instructions(0);
  it.mutable_literal()->mutable_shape()->mutable_layout()->set_minor_to_major(
      0, 0);
  it.mutable_literal()->mutable_shape()->mutable_layout()->set_minor_to_major(
      1, 1);
  const Module module = *BuildModule(proto);
  ModuleWriter writer("w", module.computations);
  const int64_t id = writer.Add(module.at(module.root), {}, {});
  const hlo::HloModuleProto written = writer.Finish({id}, {});
  const auto& literal = written.computations(0).instructions(0).literal();
  EXPECT_THAT(literal.s32s(), ElementsAre(1, 3, 2, 4));
  EXPECT_THAT(literal.shape().layout().minor_to_major(), ElementsAre(1, 0));
}

TEST(ConstantsTest, AConstantThatTheTextLeavesOutIsNamed) {
  const auto module = LoadModule(
      "HloModule m\nENTRY e {\n  big = f32[4096] constant({...})\n"
      "  ROOT r = f32[4096] negate(big)\n}\n");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_THAT(std::string(RequireLiterals(*module).message()),
              HasSubstr("constant big has no value"));
  const auto whole =
      LoadModule("HloModule m\nENTRY e {\n  ROOT r = f32[] constant(1)\n}\n");
  EXPECT_TRUE(RequireLiterals(*whole).ok());
}

}  // namespace
}  // namespace meshwright::ir
