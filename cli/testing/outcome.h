// The outcome of a command line that a test ran in its own process.
#ifndef MESHWRIGHT_CLI_TESTING_OUTCOME_H_
#define MESHWRIGHT_CLI_TESTING_OUTCOME_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace meshwright::cli {

struct Outcome {
  int status;
  std::string out;
  std::string err;
};

Outcome Command(const std::vector<std::string>& arguments);

// The output with --json of a command that succeeds.
nlohmann::json CommandJson(std::vector<std::string> arguments);

// Bad input: exit status 2, one sentence with `words` in it, nothing on stdout.
void ExpectRefused(const std::vector<std::string>& arguments,
                   const std::string& words);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_TESTING_OUTCOME_H_
