#include "cli/program/limit_seconds.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace meshwright::cli {

void LimitSeconds(CLI::Option* option, double least, double most) {
  const CLI::Range range(least, most);
  const auto check = [range](std::string& text) -> std::string {
    std::string refused = range(text);
    double seconds = 0;
    if (refused.empty() && absl::SimpleAtod(text, &seconds) &&
        std::isnan(seconds)) {
      refused = absl::StrCat("Value ", text, " is no number");
    }
    return refused;
  };
  option->check(CLI::Validator(check, range.get_description()));
}

}  // namespace meshwright::cli
