#include "coordinator/ir/load/outside_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "coordinator/ir/load/load.h"

namespace meshwright::ir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

// `lines` stand between x and the output y, which is the sum of x and `last`.
absl::StatusOr<Module> Load(const std::string& lines, const std::string& last) {
  return LoadModule(
      absl::StrCat("HloModule step\nENTRY main {\n  x = f32[8] parameter(0)\n",
                   lines, "  ROOT y = f32[8] add(x, ", last, ")\n}\n"));
}

TEST(OutsideCallsTest, ACallbackThatNothingReadsIsLeftOutAndNamed) {
  const auto module = Load(
      "  print = () custom-call(x), "
      "custom_call_target=\"xla_ffi_python_cpu_callback\", "
      "custom_call_has_side_effect=true\n",
      "x");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_THAT(module->host_calls, ElementsAre("print"));
  EXPECT_TRUE(ListHostCalls(*module).empty());
}

TEST(OutsideCallsTest, ACallbackWhoseResultIsReadIsRefused) {
  for (const char* const target :
       {"xla_ffi_python_cpu_callback", "xla_python_gpu_callback",
        "xla_ffi_partitioned_python_cpu_callback"}) {
    const auto module = Load(absl::StrCat("  host = f32[8] custom-call(x), "
                                          "custom_call_target=\"",
                                          target, "\"\n"),
                             "host");
    EXPECT_THAT(std::string(module.status().message()),
                HasSubstr("\"host\" gives the result of a host callback"));
  }
}

TEST(OutsideCallsTest, ManualShardingIsRefused) {
  for (const char* const target :
       {"SPMDFullToShardShape", "SPMDShardToFullShape",
        "xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape"}) {
    const auto module = Load(absl::StrCat("  border = f32[8] custom-call(x), "
                                          "custom_call_target=\"",
                                          target, "\"\n"),
                             "border");
    EXPECT_THAT(std::string(module.status().message()),
                HasSubstr("\"border\" is a border of manual sharding"));
  }
}

TEST(OutsideCallsTest, AConstraintIsItsOperandAndIsNamed) {
  for (const char* const target : {"Sharding", "xla.sdy.FuncResultSharding",
                                   "xla.sdy.PropagationBarrier"}) {
    const auto module =
        Load(absl::StrCat("  z = f32[8] custom-call(x), custom_call_target=\"",
                          target, "\", sharding={devices=[2]<=[2]}\n"),
             "z");
    ASSERT_TRUE(module.ok()) << module.status();
    EXPECT_THAT(module->constraints, ElementsAre("z"));
    ASSERT_EQ(module->size(), 2);
    EXPECT_THAT(module->at(module->root).operands,
                ElementsAre(module->parameters[0], module->parameters[0]));
  }
}

TEST(OutsideCallsTest, AConstraintMayBeTheWholeStep) {
  const auto module = LoadModule(
      "HloModule step\n"
      "ENTRY main {\n  x = f32[8] parameter(0)\n"
      "  ROOT y = f32[8] custom-call(x), custom_call_target=\"Sharding\"\n}\n");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_THAT(module->outputs, ElementsAre(module->parameters[0]));
}

// Two trips, each of which constrains what it carries.
TEST(OutsideCallsTest, AConstraintInALoopIsItsOperand) {
  const auto module = LoadModule(R"(HloModule step
body {
  p = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[8] get-tuple-element(p), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  z = f32[8] custom-call(x), custom_call_target="Sharding"
  y = f32[8] tanh(z)
  ROOT out = (s32[], f32[8]) tuple(next, y)
}
condition {
  p = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  two = s32[] constant(2)
  ROOT less = pred[] compare(i, two), direction=LT
}
ENTRY main {
  x = f32[8] parameter(0)
  zero = s32[] constant(0)
  start = (s32[], f32[8]) tuple(zero, x)
  loop = (s32[], f32[8]) while(start), condition=condition, body=body
  ROOT y = f32[8] get-tuple-element(loop), index=1
})");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_THAT(module->constraints, ElementsAre("z"));
  for (const ValueId id : module->ids()) {
    EXPECT_NE(module->at(id).opcode, Opcode::kCustomCall);
  }
}

// `lines` stand in the branch that is taken, and `last` is its result.
absl::StatusOr<Module> LoadBranch(const std::string& lines,
                                  const std::string& last) {
  return LoadModule(
      absl::StrCat("HloModule step\nonly {\n"
                   "  p = f32[8] parameter(0)\n",
                   lines, "  ROOT r = f32[8] tanh(", last, ")\n}\n", R"(
other {
  ROOT p = f32[8] parameter(0)
}
ENTRY main {
  x = f32[8] parameter(0)
  choice = pred[] parameter(1)
  ROOT y = f32[8] conditional(choice, x, x), true_computation=only, false_computation=other
}
)"));
}

// All that the branches hold.
std::vector<std::string> ListKeptOpcodes(const Module& module) {
  std::vector<std::string> opcodes;
  for (const auto& [id, computation] : module.computations) {
    for (const hlo::HloInstructionProto& it : computation->instructions()) {
      opcodes.push_back(it.opcode());
    }
  }
  return opcodes;
}

TEST(OutsideCallsTest, AConstraintInABranchIsACopyAndIsNamed) {
  const auto module = LoadBranch(
      "  z = f32[8] custom-call(p), custom_call_target=\"Sharding\"\n", "z");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_THAT(module->constraints, ElementsAre("z"));
  EXPECT_THAT(ListKeptOpcodes(*module),
              UnorderedElementsAre("parameter", "copy", "tanh", "parameter"));
}

constexpr const char* kPrint =
    "f32[8] custom-call(p), "
    "custom_call_target=\"xla_ffi_python_cpu_callback\"\n";

TEST(OutsideCallsTest, ACallbackInABranchIsLeftOutWhereNothingReadsIt) {
  const auto module = LoadBranch(absl::StrCat("  print = ", kPrint), "p");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_THAT(module->host_calls, ElementsAre("print"));
  EXPECT_THAT(ListKeptOpcodes(*module),
              UnorderedElementsAre("parameter", "tanh", "parameter"));
}

TEST(OutsideCallsTest, ACallbackInABranchWhoseResultIsReadIsRefused) {
  const auto module = LoadBranch(absl::StrCat("  host = ", kPrint), "host");
  EXPECT_THAT(std::string(module.status().message()),
              HasSubstr("\"host\" gives the result of a host callback"));
}

TEST(OutsideCallsTest, OtherCustomCallsStay) {
  for (const char* const before : {"custom_call_target=\"theirs\"",
                                   // Of another shape it is no constraint.
                                   "custom_call_target=\"Sharding\""}) {
    const auto module =
        Load(absl::StrCat("  a = f32[4] custom-call(x), ", before,
                          "\n  z = f32[8] custom-call(a), "
                          "custom_call_target=\"theirs\"\n"),
             "z");
    ASSERT_TRUE(module.ok()) << module.status();
    EXPECT_TRUE(module->host_calls.empty());
    EXPECT_TRUE(module->constraints.empty());
    EXPECT_EQ(module->size(), 4);
  }
}

}  // namespace
}  // namespace meshwright::ir
