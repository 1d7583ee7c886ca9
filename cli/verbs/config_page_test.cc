// docs/formats/config.md says what the programs say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "cli/testing/outcome.h"
#include "cli/verbs/app.h"
#include "cli/worker/worker_program.h"

namespace meshwright::cli {
namespace {

using testing::HasSubstr;

std::string OfCoordinator() {
  std::ostringstream out, err;
  EXPECT_EQ(RunCoordinator({"--print-config"}, {&out, &err, false}), 0)
      << err.str();
  return out.str();
}

std::string OfWorker() {
  std::ostringstream out;
  WorkerFlags flags;
  CLI::App app(kWorkerDescription, kWorkerProgram);
  SetUpWorker(app, &flags, &out);
  EXPECT_THROW(app.parse(std::vector<std::string>{"--print-config"}),
               CLI::Success);
  return out.str();
}

TEST(ConfigPageTest, ThePageHoldsWhatEachProgramPrints) {
  const std::string page = *base::ReadFile("docs/formats/config.md");
  for (const std::string& printed :
       {Command({"up", "--print-config"}).out, OfCoordinator(), OfWorker()}) {
    ASSERT_THAT(printed, HasSubstr("# The configuration of meshwright"));
    EXPECT_THAT(page, HasSubstr("```toml\n" + printed + "```\n"))
        << "run the program with --print-config and put the text there";
  }
}

TEST(ConfigPageTest, AMistakeIsOneSentenceOfBadInput) {
  const std::string path = testing::TempDir() + "/config_page_test.toml";
  ASSERT_TRUE(base::WriteFile(path, "\nstroe = \"x\"\n").ok());
  ExpectRefused({"up", "--config", path},
                path + ":2: there is no key \"stroe\"");
  std::ostringstream out, err;
  EXPECT_EQ(RunCoordinator({"--config", path}, {&out, &err, false}), 2);
  EXPECT_THAT(err.str(), HasSubstr(path + ":2: "));
}

}  // namespace
}  // namespace meshwright::cli
