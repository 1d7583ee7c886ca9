#include "coordinator/ir/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "coordinator/ir/dim_links.h"
#include "coordinator/ir/split_fused.h"

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
  for (ValueId id = 0; id < module->size(); ++id) {
    EXPECT_NE(module->at(id).opcode, Opcode::kCall);
    for (ValueId operand : module->at(id).operands) EXPECT_LT(operand, id);
  }
  EXPECT_FALSE(module->aliases.empty());
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

TEST(LoadModuleTest, RefusesAnOperandThatComesLater) {
  hlo::HloModuleProto proto = *ParseModule(Sample("llama_tiny"));
  auto& entry = *proto.mutable_computations(proto.computations_size() - 1);
  auto& it = *entry.mutable_instructions(entry.instructions_size() / 2);
  it.add_operand_ids(entry.root_id());
  EXPECT_THAT(LoadModule(proto.SerializeAsString()).status().message(),
              HasSubstr(it.name()));
}

}  // namespace
}  // namespace meshwright::ir
