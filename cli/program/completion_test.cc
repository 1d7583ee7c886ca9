#include "cli/program/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"

namespace meshwright::cli {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

// Two programs, of which one has verbs of verbs.
std::vector<ProgramShape> Programs() {
  std::string ignored;
  bool is_json = false;
  CLI::App app("Plans.", "meshwright");
  CLI::App* const plan = app.add_subcommand("plan", "plan a model's step");
  plan->add_option("model", ignored, "the model")->required();
  plan->add_option("--platform", ignored, "where")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  plan->add_option("-o,--output", ignored, "a file");
  plan->add_flag("--json", is_json, "as JSON");
  CLI::App* const plans = app.add_subcommand("plans", "of a coordinator's");
  plans->add_subcommand("list", "list them")
      ->add_flag("--json", is_json, "as JSON");
  plans->add_subcommand("watch", "it's followed");
  app.add_subcommand("inner", "not for people")->group("");
  CLI::App worker("Works.", "meshwright-worker");
  worker.add_option("--coordinator", ignored, "whose");
  return {DescribeProgram(app), DescribeProgram(worker)};
}

std::string ScriptFile(const std::string& text) {
  std::string path = testing::TempDir() + "/completion_test.script";
  EXPECT_TRUE(base::WriteFile(path, text).ok());
  return path;
}

// The output of a command; its exit status must be 0.
std::string Said(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  std::string text;
  char buffer[4096];
  for (size_t size = 0; (size = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    text.append(buffer, size);
  }
  EXPECT_EQ(pclose(pipe), 0) << command << "\n" << text;
  return text;
}

// Bash's completions of these words, of which the last is being typed.
std::vector<std::string> Offered(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) absl::StrAppend(&list, " '", word, "'");
  const std::string text = Said(absl::StrCat(
      "bash --norc --noprofile -c \"source ",
      ScriptFile(WriteBashCompletion(Programs())), "; COMP_WORDS=(", list,
      "); COMP_CWORD=", words.size() - 1,
      "; _meshwright; printf '%s\\n' \\\"\\${COMPREPLY[@]}\\\"\" 2>&1"));
  return absl::StrSplit(text, '\n', absl::SkipEmpty());
}

TEST(CompletionTest, BashOffersVerbsFlagsAndChoices) {
  EXPECT_THAT(Offered({"meshwright", "pl"}), ElementsAre("plan", "plans"));
  EXPECT_THAT(Offered({"meshwright", "plans", ""}),
              testing::IsSupersetOf({"list", "watch"}));
  EXPECT_THAT(Offered({"meshwright", "plan", "--"}),
              testing::UnorderedElementsAre("--help", "--platform", "--output",
                                            "--json"));
  EXPECT_THAT(Offered({"meshwright", "plan", "--platform", ""}),
              ElementsAre("cpu", "cuda"));
  EXPECT_THAT(Offered({"meshwright", "plan", "--platform", "cu"}),
              ElementsAre("cuda"));
  EXPECT_THAT(Offered({"meshwright", "plans", "list", "--j"}),
              ElementsAre("--json"));
  EXPECT_THAT(Offered({"/usr/bin/meshwright-worker", "--co"}),
              ElementsAre("--coordinator"));
}

// Where a file may stand, nothing is offered and bash goes on with files.
TEST(CompletionTest, BashLeavesValuesToFiles) {
  EXPECT_THAT(Offered({"meshwright", "plan", "-o", ""}), IsEmpty());
  EXPECT_THAT(Offered({"meshwright", "plan", "--output", "--"}), IsEmpty());
  EXPECT_THAT(Offered({"meshwright", "plan", "model.hlo"}), IsEmpty());
  // A value that looks like a verb is none.
  EXPECT_THAT(Offered({"meshwright", "plan", "-o", "plans", "--pl"}),
              ElementsAre("--platform"));
}

TEST(CompletionTest, WhatIsNotForPeopleIsNotOffered) {
  EXPECT_THAT(Offered({"meshwright", ""}), Not(Contains("inner")));
}

void ExpectShellReads(const char* shell, const std::string& flags,
                      const std::string& script) {
  if (std::system(absl::StrCat("command -v ", shell, " >/dev/null").c_str()) !=
      0) {
    GTEST_SKIP() << shell << " is not installed";
  }
  Said(absl::StrCat(shell, " ", flags, " ", ScriptFile(script), " 2>&1"));
}

TEST(CompletionTest, ZshReadsItsScript) {
  ExpectShellReads("zsh", "-n", WriteZshCompletion(Programs()));
}

TEST(CompletionTest, FishReadsItsScript) {
  const std::string script = WriteFishCompletion(Programs());
  EXPECT_THAT(script,
              testing::HasSubstr("complete -c meshwright -n "
                                 "'__fish_seen_subcommand_from plans; and not "
                                 "__fish_seen_subcommand_from list watch' -f "
                                 "-a watch -d 'it'\\''s followed'"));
  ExpectShellReads("fish", "--no-execute", script);
}

}  // namespace
}  // namespace meshwright::cli
