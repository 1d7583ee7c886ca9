// The table of operations: every one is drawn, run, written down and checked.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "coordinator/ir/checks/verify.h"
#include "coordinator/ir/opcode.h"
#include "tests/conformance/op_rules_generators.h"
#include "tests/conformance/op_rules_placed.h"

namespace meshwright::conformance {
namespace {

using ::testing::HasSubstr;

// The rule of these is that of other operations and runs with them; the day the
// plugin can run one, it belongs to the others.
TEST(OpRulesTest, WhatIsNotRunCannotBe) {
  for (const OpGenerator& generator : OpGenerators()) {
    if (generator.on_cpu) continue;
    Draw draw(HashSeed(generator.opcode, 0), kSixes);
    const OpCase one = generator.make(draw);
    Program program(one.replicas);
    Place(program, draw, one);
    EXPECT_EQ(CompiledProgram::Compile(CpuClient(), std::move(program))
                  .status()
                  .code(),
              absl::StatusCode::kUnimplemented)
        << generator.opcode;
  }
}

TEST(OpRulesTest, EveryRuleIsDrawn) {
  std::set<std::string> drawn;
  for (const OpGenerator& generator : OpGenerators()) {
    drawn.insert(generator.opcode);
  }
  for (const ir::OpRule& rule : ir::OpRules()) {
    EXPECT_NE(drawn.contains(std::string(rule.name)), rule.barrier)
        << rule.name;
    EXPECT_FALSE(rule.rule.empty()) << rule.name;
  }
}

TEST(OpRulesTest, TheTableIsWrittenDown) {
  const auto text = base::ReadFile("docs/op-rules.md");
  ASSERT_TRUE(text.ok()) << text.status();
  for (const ir::OpRule& rule : ir::OpRules()) {
    EXPECT_THAT(*text,
                HasSubstr(absl::StrCat("`", std::string(rule.name), "`")));
  }
}

TEST(OpRulesTest, DrawnOperationsAreAcceptedAndTheirLiesAreNot) {
  // Some dimensions of these may have any size.
  const std::set<std::string> any_size = {
      "broadcast",     "all-gather",           "all-reduce",
      "all-to-all",    "collective-broadcast", "collective-permute",
      "reduce-scatter"};
  for (const OpGenerator& generator : OpGenerators()) {
    for (int i = 0; i < generator.cases; ++i) {
      Draw draw(HashSeed(generator.opcode, i), kAnySizes);
      OpCase one = generator.make(draw);
      ir::Module module = BuildModule(one);
      EXPECT_TRUE(ir::VerifyShape(module, module.root).ok())
          << one.Describe() << ir::VerifyShape(module, module.root);
      if (any_size.contains(generator.opcode)) continue;
      ir::Shape& result =
          one.result.is_tuple() ? one.result.elements.back() : one.result;
      if (result.dims.empty()) continue;
      // No operation grows what it is given by a large prime.
      result.dims[draw.Below(result.rank())] += 8191;
      module = BuildModule(one);
      EXPECT_FALSE(ir::VerifyShape(module, module.root).ok()) << one.Describe();
    }
  }
}

}  // namespace
}  // namespace meshwright::conformance
