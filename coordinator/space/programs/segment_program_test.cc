#include "coordinator/space/programs/segment_program.h"

#include <gtest/gtest.h>

#include <utility>

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

}  // namespace
}  // namespace meshwright::space
