// Operations that pass no split, known and unknown ones: every one of them is
// accepted, listed by `analyze` with its reason, and none ends the analysis.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/strings/str_replace.h"
#include "coordinator/export/analysis_json.h"
#include "coordinator/ir/opcode.h"
#include "coordinator/ir/text/hlo_text.h"

namespace meshwright::conformance {
namespace {

using ::testing::Contains;
using ::testing::Pair;

// A step with the operation between two contractions. `middle` takes y and
// gives z.
std::string StepWith(const std::string& middle) {
  return absl::StrReplaceAll(R"(
HloModule step

twice {
  p = f32[8,32] parameter(0)
  ROOT r = f32[8,32] add(p, p)
}

less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT
}

ENTRY step {
  x = f32[8,16] parameter(0)
  w = f32[16,32] parameter(1)
  v = f32[32,64] parameter(2)
  y = f32[8,32] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  MIDDLE
  ROOT out = f32[8,64] dot(z, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)",
                             {{"MIDDLE", middle}});
}

// Opcode -> why, of the barriers the analysis lists.
std::map<std::string, std::string> ListBarriers(const std::string& text) {
  std::map<std::string, std::string> barriers;
  const auto module = ir::ParseHloText(text);
  EXPECT_TRUE(module.ok()) << module.status() << text;
  if (!module.ok()) return barriers;
  const auto answer =
      exporting::AnalyzeToJson(module->SerializeAsString(), {1, 2});
  EXPECT_TRUE(answer.ok()) << answer.status() << text;
  if (!answer.ok()) return barriers;
  const nlohmann::json analysis = nlohmann::json::parse(*answer);
  for (const auto& row : analysis["barriers"]) {
    barriers[row["opcode"]] = row["why"];
  }
  return barriers;
}

// Those that stand between other operations and are not taken in by loading.
std::vector<std::string> BarrierOpcodes() {
  std::vector<std::string> opcodes = {"frobnicate"};
  for (const ir::OpRule& rule : ir::OpRules()) {
    const bool source = rule.name == "constant" || rule.name == "iota" ||
                        rule.name == "parameter" ||
                        rule.name == "partition-id" ||
                        rule.name == "replica-id";
    if (rule.barrier && !source && rule.name != "while") {
      opcodes.emplace_back(rule.name);
    }
  }
  return opcodes;
}

class OpBarriersTest : public testing::TestWithParam<std::string> {};

TEST_P(OpBarriersTest, IsListedAndNeverACrash) {
  const std::string opcode = GetParam();
  const std::string why(ir::FindRule(opcode));
  for (const char* middle : {
           "z = f32[8,32] OP(y)",
           "z = f32[8,32] OP(y, w, y)",
           "t = (f32[8,32], u32[2]) OP(y)\n"
           "  z = f32[8,32] get-tuple-element(t), index=0",
           "t = (f32[8,32], f32[8,32]) OP(y)\n"
           "  z = f32[8,32] get-tuple-element(t), index=1",
           "k = token[] OP(y)\n"
           "  z = f32[8,32] add-dependency(y, k)",
           "t = ((f32[8,32], u32[]), token[]) OP(y)\n"
           "  u = (f32[8,32], u32[]) get-tuple-element(t), index=0\n"
           "  z = f32[8,32] get-tuple-element(u), index=0",
           "s = s32[] OP(y)\n"
           "  c = f32[] convert(s)\n"
           "  z = f32[8,32] broadcast(c), dimensions={}",
       }) {
    const std::string text =
        StepWith(absl::StrReplaceAll(middle, {{"OP", opcode}}));
    EXPECT_THAT(ListBarriers(text), Contains(Pair(opcode, why))) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(All, OpBarriersTest,
                         testing::ValuesIn(BarrierOpcodes()),
                         [](const auto& info) {
                           return absl::StrReplaceAll(info.param, {{"-", "_"}});
                         });

TEST(OpBarriersTest, SourcesStandBesideTheSplit) {
  for (const char* opcode : {"partition-id", "replica-id"}) {
    const std::string text = StepWith(
        absl::StrReplaceAll("s = u32[] OP()\n"
                            "  c = f32[] convert(s)\n"
                            "  b = f32[8,32] broadcast(c), dimensions={}\n"
                            "  z = f32[8,32] add(y, b)",
                            {{"OP", opcode}}));
    EXPECT_TRUE(ListBarriers(text).empty()) << text;
  }
}

TEST(OpBarriersTest, OneBehindAnotherIsListedToo) {
  const auto barriers = ListBarriers(
      StepWith("a = f32[8,32] frobnicate(y)\n"
               "  b = f32[8,32] custom-call(a), custom_call_target=\"theirs\"\n"
               "  c = f32[8,32] tanh(b)\n"
               "  z = f32[8,32] sort(c), dimensions={1}, to_apply=less"));
  EXPECT_THAT(barriers, Contains(Pair("frobnicate", testing::_)));
  EXPECT_THAT(barriers, Contains(Pair("custom-call", testing::_)));
}

TEST(OpBarriersTest, UnknownOperationsBeforeAnyContractionAreListed) {
  EXPECT_THAT(ListBarriers(StepWith("u = f32[8,32] parameter(3)\n"
                                    "  o = f32[8,32] frobnicate(u)\n"
                                    "  z = f32[8,32] add(y, o)")),
              Contains(Pair("frobnicate", testing::_)));
}

TEST(OpBarriersTest, BranchesAreABarrier) {
  const std::string text = StepWith(
      "q = pred[] parameter(3)\n"
      "  z = f32[8,32] conditional(q, y, y), true_computation=twice, "
      "false_computation=twice");
  EXPECT_THAT(ListBarriers(text), Contains(Pair("conditional", testing::_)));
}

TEST(OpBarriersTest, CalledComputationsAreNot) {
  EXPECT_TRUE(
      ListBarriers(StepWith("z = f32[8,32] call(y), to_apply=twice")).empty());
}

}  // namespace
}  // namespace meshwright::conformance
