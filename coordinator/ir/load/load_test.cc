#include "coordinator/ir/load/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "coordinator/ir/module.h"
#include "coordinator/ir/rewrite/split_fused.h"

namespace meshwright::ir {
namespace {

using ::testing::HasSubstr;

std::string Sample(const std::string& name) {
  return *base::ReadFile("tests/testdata/" + name + ".hlo.pb");
}

class SampleTest : public testing::TestWithParam<const char*> {};

TEST_P(SampleTest, LoadsIntoDependencyOrderWithoutCalls) {
  const auto module = LoadModule(Sample(GetParam()));
  ASSERT_TRUE(module.ok()) << module.status();
  for (const ValueId id : module->ids()) {
    EXPECT_NE(module->at(id).opcode, Opcode::kCall);
    for (ValueId operand : module->at(id).operands) EXPECT_LT(operand, id);
  }
  EXPECT_FALSE(module->aliases.empty());
}

// As a step is lowered with shardings of its arguments.
TEST(LoadTest, ADonorTakesTheFirstOutputOfItsShape) {
  const auto module = LoadModule(
      R"(HloModule step, buffer_donor={ (0, {}), (1, {}), (2, {}) }, input_output_alias={ {1}: (3, {}, may-alias) }
ENTRY main {
  a = f32[8] parameter(0)
  b = f32[8] parameter(1)
  c = f32[4] parameter(2)
  d = f32[8] parameter(3)
  x = f32[8] add(a, b)
  y = f32[8] add(x, d)
  ROOT out = (f32[8], f32[8], f32[8]) tuple(x, y, y)
})");
  ASSERT_TRUE(module.ok()) << module.status();
  std::vector<std::pair<int, int>> found;
  for (const Alias& it : module->aliases) {
    found.emplace_back(it.output, it.parameter);
  }
  EXPECT_THAT(found, testing::ElementsAre(std::pair(0, 0), std::pair(1, 3),
                                          std::pair(2, 1)));
  EXPECT_EQ(LoadModule("HloModule step, buffer_donor={ (7, {}) }\n"
                       "ENTRY main {\n  ROOT a = f32[8] parameter(0)\n}")
                .status()
                .message(),
            "the buffer donor 7 is a parameter that does not exist");
}

TEST_P(SampleTest, EveryPrefixIsRefusedOrWhole) {
  const std::string bytes = Sample(GetParam());
  for (size_t size = 0; size < bytes.size(); size += bytes.size() / 37 + 1) {
    const auto module = LoadModule(std::string_view(bytes).substr(0, size));
    EXPECT_EQ(module.status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST_P(SampleTest, ALyingShapeNamesItsInstruction) {
  hlo::HloModuleProto proto = *ParseModule(Sample(GetParam()));
  for (auto& computation : *proto.mutable_computations()) {
    if (computation.id() != proto.entry_computation_id()) continue;
    for (auto& it : *computation.mutable_instructions()) {
      if (it.opcode() != "dot") continue;
      it.mutable_shape()->set_dimensions(0, it.shape().dimensions(0) + 1);
      const auto module = BuildModule(proto);
      ASSERT_EQ(module.status().code(), absl::StatusCode::kInvalidArgument);
      EXPECT_THAT(module.status().message(), HasSubstr(it.name()));
      return;
    }
  }
  FAIL() << "the sample has no dot";
}

INSTANTIATE_TEST_SUITE_P(All, SampleTest,
                         testing::Values("llama_tiny", "gpt2_tiny", "bert_tiny",
                                         "moe_tiny"));

TEST(LoadModuleTest, RefusesWhatIsNoModule) {
  EXPECT_THAT(LoadModule("no module").status().message(),
              HasSubstr("no HLO module"));
  EXPECT_THAT(LoadModule("").status().message(), HasSubstr("empty"));
}

// A tuple has no dimensions of its own, so that nothing else would tell it from
// a scalar.
TEST(LoadModuleTest, RefusesATupleWhereAnArrayIsDue) {
  for (const char* opcode : {"abs", "broadcast", "pad", "reduce", "reshape",
                             "reverse", "slice", "transpose"}) {
    hlo::HloModuleProto proto;
    proto.set_entry_computation_id(1);
    auto& entry = *proto.add_computations();
    entry.set_id(1);
    entry.set_root_id(3);
    hlo::ShapeProto scalar;
    scalar.set_element_type(hlo::F32);
    hlo::ShapeProto array = scalar;
    array.add_dimensions(4);
    hlo::ShapeProto pair;
    pair.set_element_type(hlo::TUPLE);
    *pair.add_tuple_shapes() = array;
    *pair.add_tuple_shapes() = array;
    const auto add = [&](int id, const char* op, const hlo::ShapeProto& shape,
                         const std::vector<int64_t>& operands) {
      auto& it = *entry.add_instructions();
      it.set_id(id);
      it.set_name(absl::StrCat(op, ".", id));
      it.set_opcode(op);
      *it.mutable_shape() = shape;
      for (const int64_t operand : operands) it.add_operand_ids(operand);
    };
    add(1, "parameter", array, {});
    add(2, "tuple", pair, {1, 1});
    const bool two = std::string_view(opcode) == "pad" ||
                     std::string_view(opcode) == "reduce";
    add(3, opcode, scalar,
        two ? std::vector<int64_t>{2, 2} : std::vector<int64_t>{2});
    EXPECT_THAT(BuildModule(proto).status().message(), HasSubstr("tuple"))
        << opcode;
  }
}

TEST(LoadModuleTest, RefusesAnOperandThatComesLater) {
  hlo::HloModuleProto proto = *ParseModule(Sample("llama_tiny"));
  auto& entry = *proto.mutable_computations(proto.computations_size() - 1);
  auto& it = *entry.mutable_instructions(entry.instructions_size() / 2);
  it.add_operand_ids(entry.root_id());
  EXPECT_THAT(LoadModule(proto.SerializeAsString()).status().message(),
              HasSubstr(it.name()));
}

// The result of the body of the step's first loop.
hlo::HloInstructionProto* RootOfALoop(hlo::HloModuleProto& proto) {
  int64_t body = -1;
  for (const auto& computation : proto.computations()) {
    for (const auto& it : computation.instructions()) {
      if (it.opcode() == "while") body = it.called_computation_ids(0);
    }
  }
  for (auto& computation : *proto.mutable_computations()) {
    if (computation.id() != body) continue;
    for (auto& it : *computation.mutable_instructions()) {
      if (it.id() == computation.root_id()) return &it;
    }
  }
  return nullptr;
}

// The sample with its integers changed: all, or those of its entry.
hlo::HloModuleProto ScanWith(
    const std::function<void(hlo::HloInstructionProto&)>& change, bool all) {
  hlo::HloModuleProto proto = *ParseModule(Sample("scan_tiny"));
  for (auto& computation : *proto.mutable_computations()) {
    if (!all && computation.id() != proto.entry_computation_id()) continue;
    for (auto& it : *computation.mutable_instructions()) {
      if (it.opcode() == "constant" && it.literal().s32s_size() == 1) {
        change(it);
      }
    }
  }
  return proto;
}

TEST(LoadModuleTest, RefusesALoopThatCountsFromNothing) {
  const hlo::HloModuleProto proto =
      ScanWith([](auto& constant) { constant.set_opcode("copy"); }, false);
  EXPECT_EQ(BuildModule(proto).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(LoadModuleTest, TripsOfEveryStrideAreCounted) {
  for (const int64_t stride :
       {int64_t{1}, int64_t{2}, INT64_MAX - 1, INT64_MAX}) {
    int64_t counted = 0;
    const auto module = BuildModule(ScanWith(
        [&](auto& constant) {
          const int64_t value = constant.literal().s32s(0);
          if (value != 1) return;
          constant.mutable_literal()->clear_s32s();
          constant.mutable_literal()->add_s64s(stride);
        },
        true));
    ASSERT_TRUE(module.ok()) << module.status();
    for (const Loop& loop : module->loops) {
      if (loop.counter.has_value() && loop.step == stride) ++counted;
      if (stride > 2) {
        EXPECT_LE(loop.trips, 1);
      }
    }
    EXPECT_GT(counted, 0) << stride;
  }
}

// Four trips of three; the outer loop carries the limit of the inner one.
TEST(LoadModuleTest, ALimitThatAnOuterLoopCarriesIsFound) {
  const auto module = LoadModule(R"(HloModule step
inner_body {
  p = (s32[], s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  limit = s32[] get-tuple-element(p), index=1
  x = f32[8] get-tuple-element(p), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[8] tanh(x)
  ROOT out = (s32[], s32[], f32[8]) tuple(next, limit, y)
}
is_before {
  p = (s32[], s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  limit = s32[] get-tuple-element(p), index=1
  ROOT less = pred[] compare(i, limit), direction=LT
}
outer_body {
  p = (s32[], s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  limit = s32[] get-tuple-element(p), index=1
  x = f32[8] get-tuple-element(p), index=2
  zero = s32[] constant(0)
  start = (s32[], s32[], f32[8]) tuple(zero, limit, x)
  loop = (s32[], s32[], f32[8]) while(start), condition=is_before, body=inner_body
  y = f32[8] get-tuple-element(loop), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT out = (s32[], s32[], f32[8]) tuple(next, limit, y)
}
is_before_four {
  p = (s32[], s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  four = s32[] constant(4)
  ROOT less = pred[] compare(i, four), direction=LT
}
ENTRY main {
  x = f32[8] parameter(0)
  zero = s32[] constant(0)
  three = s32[] constant(3)
  start = (s32[], s32[], f32[8]) tuple(zero, three, x)
  loop = (s32[], s32[], f32[8]) while(start), condition=is_before_four, body=outer_body
  ROOT y = f32[8] get-tuple-element(loop), index=2
})");
  ASSERT_TRUE(module.ok()) << module.status();
  std::vector<int64_t> trips;
  for (const Loop& loop : module->loops) trips.push_back(loop.trips);
  EXPECT_THAT(trips, testing::ElementsAre(4, 3));
}

TEST(LoadModuleTest, RefusesALoopWhoseTupleIsNotWhatItSays) {
  const hlo::HloModuleProto scan = *ParseModule(Sample("scan_tiny"));
  const auto refusal = [&](const auto& change) {
    hlo::HloModuleProto proto = scan;
    hlo::HloInstructionProto* const root = RootOfALoop(proto);
    EXPECT_NE(root, nullptr);
    change(*root);
    const absl::Status status = BuildModule(proto).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(status.message(), HasSubstr(root->name()));
  };
  refusal([](auto& root) { root.mutable_operand_ids()->RemoveLast(); });
  refusal([](auto& root) { root.clear_operand_ids(); });
  refusal([](auto& root) { root.add_operand_ids(root.operand_ids(0)); });
  refusal([](auto& root) {
    const int last = root.operand_ids_size() - 1;
    EXPECT_NE(root.shape().tuple_shapes(0).SerializeAsString(),
              root.shape().tuple_shapes(last).SerializeAsString());
    root.mutable_operand_ids()->SwapElements(0, last);
  });
}

TEST(LoadModuleTest, FrontendAttributesHaveOneOrder) {
  hlo::HloModuleProto proto = *ParseModule(Sample("llama_tiny"));
  hlo::FrontendAttributes attributes;
  for (const char* key : {"b", "a"}) attributes.add_map()->set_key(key);
  for (hlo::HloInstructionProto& it :
       *proto.mutable_computations(proto.computations_size() - 1)
            ->mutable_instructions()) {
    it.set_frontend_attributes(attributes.SerializeAsString());
  }
  attributes.mutable_map()->SwapElements(0, 1);
  const auto module = LoadModule(proto.SerializeAsString());
  ASSERT_TRUE(module.ok()) << module.status();
  int sorted = 0;
  for (const ValueId id : module->ids()) {
    const std::string& found =
        module->at(id).attributes().frontend_attributes();
    EXPECT_TRUE(found.empty() || found == attributes.SerializeAsString());
    sorted += !found.empty();
  }
  EXPECT_GT(sorted, 0);
}

}  // namespace
}  // namespace meshwright::ir
