#include "coordinator/space/programs/segment_program.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <utility>

#include "coordinator/ir/load/load.h"
#include "coordinator/segmenter/testing/test_steps.h"
#include "coordinator/space/profile_space.h"
#include "coordinator/space/testing/program_entry.h"

namespace meshwright::space {
namespace {

// Of all programs of the step.
int CountAliases(ir::Module module) {
  const auto analysis = segmenter::Analyze(std::move(module), {1, 2});
  EXPECT_TRUE(analysis.ok()) << analysis.status();
  KeyContext context;
  context.mesh = {1, 2};
  int aliases = 0;
  for (const v1::Program& it : BuildProfileSpace(*analysis, context).programs) {
    aliases += ProgramEntry(it).module.input_output_alias().entries_size();
  }
  return aliases;
}

TEST(SegmentProgramTest, StateIsUpdatedInPlaceWhereTheStepDonatesIt) {
  ir::Module module = segmenter::LoadSample("llama_tiny");
  EXPECT_GT(CountAliases(module), 0);
  module.aliases.clear();
  EXPECT_EQ(CountAliases(std::move(module)), 0);
}

// The weights of the step before, which a proximal term reads, are donated too.
TEST(SegmentProgramTest, AValueThatIsTwoStatesTakesThePlaceOfOne) {
  auto module = ir::LoadModule(R"(
HloModule proximal, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}
ENTRY main {
  w = f32[32,48] parameter(0)
  before = f32[32,48] parameter(1)
  x = f32[8,16,32] parameter(2)
  y = f32[8,16,48] dot(x, w), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  zero = f32[] constant(0)
  square = f32[8,16,48] multiply(y, y)
  loss = f32[] reduce(square, zero), dimensions={0,1,2}, to_apply=add
  dy = f32[8,16,48] add(y, y)
  dw = f32[32,48] dot(x, dy), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}
  apart = f32[32,48] subtract(w, before)
  step = f32[32,48] add(dw, apart)
  new = f32[32,48] subtract(w, step)
  ROOT out = (f32[32,48], f32[32,48], f32[]) tuple(new, new, loss)
}
)");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto analysis = segmenter::Analyze(*std::move(module), {1, 2});
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  KeyContext context;
  context.mesh = {1, 2};
  int aliases = 0;
  for (const v1::Program& it : BuildProfileSpace(*analysis, context).programs) {
    std::set<int64_t> outputs;
    const ProgramEntry entry(it);
    for (const auto& alias : entry.module.input_output_alias().entries()) {
      ++aliases;
      EXPECT_TRUE(outputs.insert(alias.output_shape_index(0)).second);
    }
  }
  EXPECT_GT(aliases, 0);
}

}  // namespace
}  // namespace meshwright::space
