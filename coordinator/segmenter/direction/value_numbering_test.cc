#include "coordinator/segmenter/direction/value_numbering.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/ir/module.h"
#include "coordinator/segmenter/direction/hash.h"

namespace meshwright::segmenter {
namespace {

// By name the name of the first value of its class.
std::map<std::string, std::string> Classes(const std::string& body) {
  auto module = ir::LoadModule(
      absl::StrCat("HloModule test\n\nENTRY main {\n", body, "}"));
  EXPECT_TRUE(module.ok()) << module.status();
  const auto classes = NumberValues(*module, HashOperations(*module));
  std::map<std::string, std::string> names;
  for (const ir::ValueId id : module->ids()) {
    names[std::string(module->at(id).name())] =
        std::string(module->at(classes[id]).name());
  }
  return names;
}

TEST(ValueNumberingTest, EqualOperationsOnEqualValuesAreEqual) {
  auto first = Classes(R"(
    x = f32[4] parameter(0)
    a = f32[4] tanh(x)
    kept = f32[4] opt-barrier(x)
    b = f32[4] tanh(kept)
    c = f32[4] sine(kept)
    ROOT out = (f32[4], f32[4], f32[4]) tuple(a, b, c)
)");
  EXPECT_EQ(first["b"], "a");
  EXPECT_EQ(first["c"], "c");
}

TEST(ValueNumberingTest, ConstantsOfOneNumberAreEqualByShape) {
  auto first = Classes(R"(
    one = f32[] constant(1)
    ones = f32[4] broadcast(one), dimensions={}
    whole = s32[] constant(1)
    wholes = s32[4] broadcast(whole), dimensions={}
    kept = s32[4] opt-barrier(wholes)
    again = f32[4] convert(kept)
    more = f32[5] broadcast(one), dimensions={}
    two = f32[] constant(2)
    twos = f32[4] broadcast(two), dimensions={}
    ROOT out = (f32[4], f32[4], f32[5], f32[4], s32[4]) tuple(ones, again, more, twos, kept)
)");
  EXPECT_EQ(first["again"], "ones");
  EXPECT_EQ(first["kept"], "wholes");
  EXPECT_EQ(first["more"], "more");
  EXPECT_EQ(first["twos"], "twos");
}

TEST(ValueNumberingTest, AConvertThatMayRoundIsNoNumber) {
  auto first = Classes(R"(
    third = f32[] constant(0.333333343)
    a = bf16[] convert(third)
    b = bf16[] constant(0.334)
    ROOT out = (bf16[], bf16[]) tuple(a, b)
)");
  EXPECT_EQ(first["a"], "a");
  EXPECT_EQ(first["b"], "b");
}

}  // namespace
}  // namespace meshwright::segmenter
