#include "cli/slurm/programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

namespace meshwright::cli {
namespace {

using testing::HasSubstr;

std::optional<int> RunScript(const std::string& script,
                             const std::vector<std::string>& variables = {}) {
  const auto program =
      RunningProgram::Start({"sh", "-c", script}, variables, false);
  EXPECT_TRUE(program.ok()) << program.status();
  return (*program)->AwaitEnd(absl::Minutes(1));
}

TEST(ProgramsTest, EndsWithItsStatus) {
  EXPECT_EQ(RunScript("exit 0"), 0);
  EXPECT_EQ(RunScript("exit 7"), 7);
  EXPECT_EQ(RunScript("kill -TERM $$"), 128 + SIGTERM);
}

TEST(ProgramsTest, AVariableIsAddedOrReplaced) {
  EXPECT_EQ(RunScript("test \"$MADE_UP\" = yes", {"MADE_UP=yes"}), 0);
  EXPECT_EQ(RunScript("test \"$PATH\" = x", {"PATH=x"}), 0);
}

TEST(ProgramsTest, OneThatIsNotThereEndsAsInAShell) {
  const auto program = RunningProgram::Start({"no-such-program"}, {}, false);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ((*program)->AwaitEnd(absl::Minutes(1)), 127);
}

TEST(ProgramsTest, OneThatRunsHasNoStatusUntilASignal) {
  const auto program = RunningProgram::Start({"sleep", "600"}, {}, true);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ((*program)->AwaitEnd(absl::Milliseconds(1)), std::nullopt);
  (*program)->Signal(SIGTERM);
  EXPECT_EQ((*program)->AwaitEnd(absl::Minutes(1)), 128 + SIGTERM);
}

TEST(ProgramsTest, WhatItPrints) {
  EXPECT_EQ(*RunProgram({"sh", "-c", "echo one; echo two"}), "one\ntwo\n");
  EXPECT_THAT(std::string(RunProgram({"false"}).status().message()),
              HasSubstr("status 1"));
  EXPECT_THAT(std::string(RunProgram({"no-such"}).status().message()),
              HasSubstr("PATH"));
}

}  // namespace
}  // namespace meshwright::cli
