#include "coordinator/ir/text/hlo_text.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"

namespace meshwright::ir {
namespace {

using ::testing::HasSubstr;

constexpr char kFolder[] = "tests/testdata/text";

std::string WithEntry(const std::string& instructions) {
  return "HloModule m\nENTRY main {\n" + instructions + "\n}\n";
}

hlo::HloModuleProto Parsed(const std::string& text) {
  auto module = ParseHloText(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : hlo::HloModuleProto();
}

hlo::HloInstructionProto Last(const std::string& instructions) {
  const hlo::HloModuleProto module = Parsed(WithEntry(instructions));
  if (module.computations().empty()) return {};
  const auto& all = module.computations(0).instructions();
  return all[all.size() - 1];
}

std::string Message(const std::string& text) {
  const auto module = ParseHloText(text);
  EXPECT_EQ(module.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(module.status().message());
}

// Numbers by place instead of ids, computations by name, without what a text
// does not hold.
void Normalise(hlo::HloModuleProto& module) {
  std::sort(module.mutable_computations()->begin(),
            module.mutable_computations()->end(),
            [](const auto& a, const auto& b) { return a.name() < b.name(); });
  std::map<int64_t, int64_t> computations;
  for (auto& computation : *module.mutable_computations()) {
    const auto number = static_cast<int64_t>(computations.size());
    computations[computation.id()] = number;
    computation.set_id(number);
  }
  for (auto& computation : *module.mutable_computations()) {
    std::map<int64_t, int64_t> instructions;
    for (auto& it : *computation.mutable_instructions()) {
      const auto number = static_cast<int64_t>(instructions.size());
      instructions[it.id()] = number;
      it.set_id(number);
      for (auto& operand : *it.mutable_operand_ids()) {
        operand = instructions.at(operand);
      }
      for (auto& before : *it.mutable_control_predecessor_ids()) {
        before = instructions.at(before);
      }
      for (auto& callee : *it.mutable_called_computation_ids()) {
        callee = computations.at(callee);
      }
      it.clear_sharding();
      if (it.metadata().ByteSizeLong() == 0) it.clear_metadata();
    }
    computation.set_root_id(instructions.at(computation.root_id()));
  }
  module.set_entry_computation_id(
      computations.at(module.entry_computation_id()));
  module.clear_id();
  module.mutable_host_program_shape()->clear_parameter_names();
  if (module.input_output_alias().entries().empty()) {
    module.clear_input_output_alias();
  }
  if (module.buffer_donor().entries().empty()) module.clear_buffer_donor();
  module.DiscardUnknownFields();
}

// The text XLA prints of a module and the proto it serialises of it are read
// alike, field by field.
TEST(HloTextTest, EveryTextReadsLikeItsProto) {
  int pairs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".hlo.txt")) continue;
    SCOPED_TRACE(path);
    hlo::HloModuleProto text = Parsed(*base::ReadFile(path));
    const std::string stem = path.substr(0, path.size() - 4);
    hlo::HloModuleProto proto;
    ASSERT_TRUE(proto.ParseFromString(*base::ReadFile(stem + ".pb")));
    Normalise(text);
    Normalise(proto);
    google::protobuf::util::MessageDifferencer differencer;
    differencer.set_message_field_comparison(
        google::protobuf::util::MessageDifferencer::EQUAL);
    google::protobuf::util::DefaultFieldComparator comparator;
    comparator.set_treat_nan_as_equal(true);
    differencer.set_field_comparator(&comparator);
    std::string difference;
    differencer.ReportDifferencesToString(&difference);
    EXPECT_TRUE(differencer.Compare(proto, text)) << difference;
    ++pairs;
  }
  EXPECT_GE(pairs, 1);
}

TEST(HloTextTest, PercentSignsAndOperandShapesMayBeLeftOutOrGiven) {
  const hlo::HloModuleProto bare = Parsed(
      WithEntry("a = f32[2,3] parameter(0)\nROOT r = f32[3,2] transpose(a), "
                "dimensions={1,0}"));
  const hlo::HloModuleProto full = Parsed(
      "HloModule m, is_scheduled=true\n\nENTRY %main (a: f32[2,3]) -> "
      "f32[3,2] {\n  %a = f32[2,3]{1,0} parameter(0)\n  ROOT %r = "
      "f32[3,2]{1,0:T(8,128)} transpose(f32[2,3]{1,0} %a), dimensions={1,0}, "
      "unknown={a={b},\"}\"}\n}, execution_thread=\"main\"\n");
  EXPECT_EQ(bare.SerializeAsString(), full.SerializeAsString());
}

TEST(HloTextTest, TheLastInstructionIsTheRootWhereNoneIsMarked) {
  const hlo::HloModuleProto module = Parsed(
      "HloModule m\nf {\n a = s32[] parameter(0)\n b = s32[] "
      "negate(a)\n}\n");
  EXPECT_EQ(module.computations(0).root_id(),
            module.computations(0).instructions(1).id());
  EXPECT_EQ(module.entry_computation_name(), "f");
}

TEST(HloTextTest, TupleShapesMayHoldComments) {
  const hlo::HloInstructionProto it =
      Last("ROOT a = (f32[2]{0}, /*index=1*/(s32[], token[])) parameter(0)");
  ASSERT_EQ(it.shape().tuple_shapes_size(), 2);
  EXPECT_EQ(it.shape().tuple_shapes(1).tuple_shapes(1).element_type(),
            hlo::TOKEN);
}

TEST(HloTextTest, AnElidedConstantHasNoLiteral) {
  EXPECT_FALSE(Last("a = f32[4096] constant({...})").has_literal());
}

TEST(HloTextTest, AConstantOfAnotherLayoutIsReadInLogicalOrder) {
  const hlo::HloInstructionProto it =
      Last("a = s32[2,2]{0,1} constant({ {1, 2}, {3, 4} })");
  EXPECT_THAT(it.literal().s32s(), testing::ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(it.shape().layout().minor_to_major(), testing::ElementsAre(1, 0));
}

TEST(HloTextTest, TablesOfSourceLocationsAreSkipped) {
  const hlo::HloModuleProto module = Parsed(
      "HloModule m\n\nFileNames\n1 \"a.py\"\n\nStackFrames\n1 "
      "{file_location_id=1}\n\nENTRY e {\n a = s32[] parameter(0)\n}\n");
  EXPECT_EQ(module.entry_computation_name(), "e");
}

struct BadText {
  const char* text;
  const char* message;
};

TEST(HloTextTest, ErrorsNameTheLineAndTheThing) {
  for (const BadText& bad : std::vector<BadText>{
           {"", "does not start with HloModule"},
           {"HloModule m", "holds no computation"},
           {"HloModule m\nENTRY e {\n}", "line 3: computation e holds no"},
           {"HloModule m\nENTRY e {\n a = f32[2] parameter(0)\n",
            "expected an instruction or '}'"},
           {"HloModule m\nENTRY e {\n a = f33[2] parameter(0) }",
            "line 3: expected a shape, not 'f33'"},
           {"HloModule m\nENTRY e {\n a = f32[-2] parameter(0) }",
            "a dimension is negative"},
           {"HloModule m\nENTRY e {\n a = f32[9999999999999999999] iota() }",
            "does not fit into 64 bits"},
           {"HloModule m\nENTRY e {\n a = f32[2]{1} parameter(0) }",
            "a layout does not fit"},
           {"HloModule m\nENTRY e {\n a = f32[] parameter(1) }",
            "the parameters of e are not numbered"},
           {"HloModule m\nENTRY e {\n\n b = f32[] negate(a) }",
            "line 4: instruction b uses 'a'"},
           {"HloModule m\nENTRY e {\n a = f32[] iota()\n a = f32[] iota() }",
            "instruction a is defined twice"},
           {"HloModule m\nENTRY e {\n a = f32[] call(), to_apply=g }",
            "calls computation 'g'"},
           {"HloModule m\nf {\n a = f32[] iota() }\ng { a = f32[] iota() }",
            "no computation is marked ENTRY"},
           {"HloModule m\nENTRY e {\n a = f32[2] constant({1}) }",
            "holds 1 elements where its shape has 2"},
           {"HloModule m\nENTRY e {\n a = f32[2] constant({1, 2, 3}) }",
            "holds 3 elements where its shape has 2"},
           {"HloModule m\nENTRY e {\n a = f32[1] constant({{1}}) }",
            "nests deeper"},
           {"HloModule m\nENTRY e {\n a = u8[] constant(256) }",
            "'256' is no value of the constant's type"},
           {"HloModule m\nENTRY e {\n a = f32[] constant(1.5.2) }",
            "'1.5.2' is no value"},
           {"HloModule m\nENTRY e {\n a = f32[] iota(), metadata={op_name=\"",
            "no closing quote"},
           {"HloModule m\nENTRY e {\n a = f32[] iota(), x={{{\n",
            "a bracket is not closed"},
           {"HloModule m\nENTRY e {\n a = f32[] fft(), fft_type=SLOW }",
            "'SLOW' is no known choice"},
           {"HloModule m\nENTRY e {\n a = f32[] iota(), window={weight=2} }",
            "a window has no 'weight'"},
       }) {
    EXPECT_THAT(Message(bad.text), HasSubstr(bad.message)) << bad.text;
  }
}

// Every input that once broke the reader, or was made to.
TEST(HloTextTest, EveryKeptInputIsRefusedOrRead) {
  int inputs = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(kFolder) + "/fuzz")) {
    SCOPED_TRACE(entry.path().string());
    const auto module = ParseHloText(*base::ReadFile(entry.path().string()));
    if (!module.ok()) {
      EXPECT_THAT(std::string(module.status().message()),
                  testing::StartsWith("line "));
    }
    ++inputs;
  }
  EXPECT_GE(inputs, 10);
}

TEST(HloTextTest, DeepNestingIsRefused) {
  EXPECT_THAT(Message(WithEntry("a = " + std::string(100000, '('))),
              HasSubstr("nest too deeply"));
}

}  // namespace
}  // namespace meshwright::ir
