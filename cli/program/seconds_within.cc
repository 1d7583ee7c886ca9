#include "cli/program/seconds_within.h"

#include <cmath>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace meshwright::cli {

CLI::Validator SecondsWithin(double least, double most) {
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
  return {check, range.get_description()};
}

}  // namespace meshwright::cli
