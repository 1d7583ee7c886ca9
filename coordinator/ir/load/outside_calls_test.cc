#include "coordinator/ir/load/outside_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "coordinator/ir/load/load.h"

namespace meshwright::ir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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

TEST(OutsideCallsTest, OtherCustomCallsStay) {
  const auto module = Load(
      "  z = f32[8] custom-call(x), custom_call_target=\"Sharding\"\n", "z");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_TRUE(module->host_calls.empty());
}

}  // namespace
}  // namespace meshwright::ir
