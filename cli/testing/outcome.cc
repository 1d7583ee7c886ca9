#include "cli/testing/outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "cli/verbs/app.h"

namespace meshwright::cli {

Outcome Command(const std::vector<std::string>& arguments) {
  std::ostringstream out, err;
  const int status = RunCommand(arguments, {&out, &err, false});
  return {status, out.str(), err.str()};
}

nlohmann::json CommandJson(std::vector<std::string> arguments) {
  arguments.push_back("--json");
  const Outcome outcome = Command(arguments);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  auto answer = nlohmann::json::parse(outcome.out, nullptr, false);
  EXPECT_TRUE(answer.is_object()) << outcome.out;
  return answer;
}

void ExpectRefused(const std::vector<std::string>& arguments,
                   const std::string& words) {
  const Outcome outcome = Command(arguments);
  EXPECT_EQ(outcome.status, 2) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, testing::StartsWith("meshwright: "));
  EXPECT_THAT(outcome.err, testing::HasSubstr(words));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1)
      << outcome.err;
}

}  // namespace meshwright::cli
