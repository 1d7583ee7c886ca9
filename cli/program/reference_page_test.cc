#include "cli/program/reference_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::cli {
namespace {

using ::testing::HasSubstr;

TEST(ReferencePageTest, EveryVerbAndFlagHasItsPlace) {
  ProgramShape verb;
  verb.path = {"tool", "move"};
  verb.description = "move things";
  FlagShape what;
  what.names = {"what"};
  what.is_argument = what.is_required = what.takes_value = true;
  what.description = "a FILE";
  FlagShape how;
  how.names = {"-h", "--how"};
  how.takes_value = true;
  how.value = "A|B";
  how.choices = {"a", "b"};
  how.default_value = "a";
  how.description = "a_b|c";
  verb.flags = {what, how};
  ProgramShape program;
  program.path = {"tool"};
  program.description = "A tool.";
  program.verbs = {verb};
  const std::string page = MakeReferencePage(program);
  EXPECT_THAT(page, HasSubstr("# tool\n\nA tool.\n\n```text\ntool VERB\n```"));
  EXPECT_THAT(page, HasSubstr("## tool move\n\nmove things.\n\n```text\n"
                              "tool move WHAT [flags]\n```"));
  EXPECT_THAT(page, HasSubstr("| `WHAT` |  | a FILE (required) |\n"));
  // A bar inside a cell does not end it.
  EXPECT_THAT(page, HasSubstr("| `-h`, `--how` | A\\|B | a\\_b\\|c; one of a, "
                              "b (default: `a`) |\n"));
}

}  // namespace
}  // namespace meshwright::cli
