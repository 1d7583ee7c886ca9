// Modules that nest deeper than any step are refused at the door, in one
// sentence: all recursions over shapes, literals and computations rely on it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/ir/load/load.h"
#include "tests/stress/parts.h"

namespace meshwright::stress {
namespace {

using ::testing::HasSubstr;

constexpr int kDepth = 10'000;

std::string Repeat(const std::string& text) {
  std::string all;
  for (int i = 0; i < kDepth; ++i) all += text;
  return all;
}

template <typename Loaded>
void ExpectRefused(const Loaded& loaded, const std::string& sentence) {
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(loaded.status().message()), HasSubstr(sentence));
}

hlo::HloModuleProto OneParameter(hlo::ShapeProto shape) {
  Builder builder;
  builder.Parameter(Square());
  hlo::HloModuleProto module = builder.Finish({0}, 0);
  *module.mutable_computations(0)->mutable_instructions(0)->mutable_shape() =
      std::move(shape);
  return module;
}

// A tuple of a tuple of ...
hlo::ShapeProto Nested(int depth) {
  hlo::ShapeProto shape;
  hlo::ShapeProto* inner = &shape;
  for (int i = 0; i < depth; ++i) {
    inner->set_element_type(hlo::TUPLE);
    inner = inner->add_tuple_shapes();
  }
  inner->set_element_type(hlo::F32);
  return shape;
}

TEST(DepthTest, TuplesInMessages) {
  ExpectRefused(ir::BuildModule(OneParameter(Nested(kDepth))),
                "nests tuples too deeply");
  ExpectRefused(
      ir::LoadModule(OneParameter(Nested(kDepth)).SerializeAsString()),
      "no HLO module");
  ExpectRefused(ir::LoadModule(OneParameter(Nested(40)).SerializeAsString()),
                "nests tuples too deeply");
}

TEST(DepthTest, LiteralsInMessages) {
  Builder builder;
  hlo::LiteralProto* inner =
      builder.Add("constant", Array({}), {}).mutable_literal();
  for (int i = 0; i < kDepth; ++i) inner = inner->add_tuple_literals();
  const Id w = builder.Parameter(Square());
  ExpectRefused(ir::LoadModule(builder.Finish({w}, 0).SerializeAsString()),
                "no HLO module");
}

// Each computation reduces by the one before it.
TEST(DepthTest, ComputationsInMessages) {
  Builder builder;
  const Id w = builder.Parameter(Square());
  Id callee = 0;
  for (int i = 0; i < kDepth; ++i) {
    builder.Begin();
    Id value = builder.Parameter(Array({}));
    const Id other = builder.Parameter(Array({}));
    if (callee == 0) {
      value = builder.Op("add", Array({}), {value, other});
    } else {
      hlo::HloInstructionProto& it =
          builder.Add("reduce", Array({}), {value, other});
      it.add_called_computation_ids(callee);
      value = it.id();
    }
    callee = builder.End(value);
  }
  hlo::HloInstructionProto& it =
      builder.Add("reduce", Array({}), {w, builder.Scalar(0)});
  it.add_dimensions(0);
  it.add_dimensions(1);
  it.add_called_computation_ids(callee);
  const Id sum = it.id();
  ExpectRefused(ir::BuildModule(builder.Finish({w, sum}, 0)),
                "nests computations deeper than");
}

TEST(DepthTest, TextOfShapes) {
  ExpectRefused(
      ir::LoadModule(absl::StrCat("HloModule m\nENTRY e {\n  p = ", Repeat("("),
                                  "f32[]", Repeat(")"), " parameter(0)\n}\n")),
      "tuples nest too deeply");
}

TEST(DepthTest, TextOfConstants) {
  ExpectRefused(ir::LoadModule(absl::StrCat(
                    "HloModule m\nENTRY e {\n  c = f32[2] constant(",
                    Repeat("{"), "1", Repeat("}"), ")\n}\n")),
                "nests deeper than its shape");
}

TEST(DepthTest, TextOfAttributes) {
  for (const char* attribute :
       {"sharding", "dimensions", "metadata", "window", "backend_config",
        "replica_groups", "frontend_attributes", "called_computations"}) {
    const auto loaded = ir::LoadModule(
        absl::StrCat("HloModule m\nENTRY e {\n  p = f32[2] parameter(0), ",
                     attribute, "=", Repeat("{"), "1", Repeat("}"), "\n}\n"));
    if (!loaded.ok()) {
      EXPECT_EQ(loaded.status().code(), absl::StatusCode::kInvalidArgument);
    }
  }
}

TEST(DepthTest, TextOfComputations) {
  std::string text = "HloModule m\n";
  for (int i = 0; i < kDepth; ++i) {
    const std::string root =
        i == 0 ? "add(a, b)"
               : absl::StrCat("reduce(a, b), dimensions={}, to_apply=c", i - 1);
    absl::StrAppend(&text, "c", i, " {\n  a = f32[] parameter(0)\n",
                    "  b = f32[] parameter(1)\n  ROOT r = f32[] ", root,
                    "\n}\n");
  }
  absl::StrAppend(&text, "ENTRY e {\n  p = f32[2] parameter(0)\n",
                  "  z = f32[] constant(0)\n",
                  "  ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=c",
                  kDepth - 1, "\n}\n");
  ExpectRefused(ir::LoadModule(text), "nests computations deeper than");
}

}  // namespace
}  // namespace meshwright::stress
