// The sample files of the planner's verbs (tests/testdata/planner), and in fuzz
// what a fuzzer once broke a verb with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "cli/testing/outcome.h"

namespace meshwright::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kFolder[] = "tests/testdata/planner";

// A file is named after its verb: reshard_tensor.json.
std::string NameVerb(const fs::path& file) {
  const std::string stem = file.stem().string();
  return stem.substr(0, stem.find('_'));
}

std::vector<std::string> CommandFor(const fs::path& file) {
  static const std::map<std::string, std::vector<std::string>> kFlags = {
      {"search", {}},
      {"checkpoint", {"--budget", "500", "--chain"}},
      {"layout", {"--cases"}},
      {"reshard", {"--tasks"}},
      {"pipeline", {}}};
  const std::string verb = NameVerb(file);
  std::vector<std::string> command = {verb, "--json"};
  const auto flags = kFlags.find(verb);
  EXPECT_NE(flags, kFlags.end()) << file << " is named after no verb";
  if (flags == kFlags.end()) return command;
  command.insert(command.end(), flags->second.begin(), flags->second.end());
  command.push_back(file.string());
  return command;
}

TEST(PlannerFilesTest, SamplesAreAnsweredAndOddOnesAnsweredOrRefused) {
  std::set<std::string> verbs;
  for (const auto& entry : fs::recursive_directory_iterator(kFolder)) {
    if (!entry.is_regular_file()) continue;
    const fs::path& file = entry.path();
    const Outcome outcome = Command(CommandFor(file));
    const bool odd = file.parent_path().filename() == "fuzz";
    EXPECT_TRUE(outcome.status == 0 || (odd && outcome.status == 2))
        << file << ": " << outcome.err;
    if (outcome.status != 0) continue;
    EXPECT_TRUE(nlohmann::json::accept(outcome.out)) << file << outcome.out;
    verbs.insert(NameVerb(file));
  }
  EXPECT_EQ(verbs.size(), 5u);
}

}  // namespace
}  // namespace meshwright::cli
