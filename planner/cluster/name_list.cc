#include "planner/cluster/name_list.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "planner/cluster/cluster.h"

namespace meshwright::cluster {
namespace {

absl::Status RefuseNames(absl::string_view pattern, absl::string_view fault) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", pattern, "\" ", fault, "; write names like gpu[0-7]"));
}

// Those of the largest number. A name is as wide as its number is written.
constexpr size_t kMaxDigits = 20;

bool ParseCount(absl::string_view text, uint64_t* number) {
  if (text.size() > kMaxDigits) return false;
  for (const char c : text) {
    if (!absl::ascii_isdigit(c)) return false;
  }
  return absl::SimpleAtoi(text, number);
}

// The numbers of "0,2,4-6".
absl::StatusOr<std::vector<std::string>> ExpandRanges(
    absl::string_view pattern, absl::string_view ranges) {
  std::vector<std::string> numbers;
  for (const absl::string_view range : absl::StrSplit(ranges, ',')) {
    const std::pair<absl::string_view, absl::string_view> ends =
        absl::StrSplit(range, absl::MaxSplits('-', 1));
    const bool is_range = range.find('-') != absl::string_view::npos;
    uint64_t first = 0;
    uint64_t last = 0;
    if (!ParseCount(ends.first, &first) ||
        !ParseCount(is_range ? ends.second : ends.first, &last) ||
        last < first) {
      return RefuseNames(
          pattern,
          absl::StrCat("has a bracket without rising numbers of at most ",
                       kMaxDigits, " digits"));
    }
    if (last - first >= kMaxDevices - numbers.size()) {
      return RefuseNames(pattern, "names more devices than a cluster may have");
    }
    // The last number may be the largest there is.
    const uint64_t count = last - first + 1;
    for (uint64_t i = 0; i < count; ++i) {
      numbers.push_back(absl::StrFormat(
          "%0*d", static_cast<int>(ends.first.size()), first + i));
    }
  }
  return numbers;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ExpandNames(
    absl::string_view pattern) {
  std::vector<std::string> names = {""};
  absl::string_view rest = pattern;
  while (!rest.empty()) {
    const size_t open = rest.find('[');
    const absl::string_view plain = rest.substr(0, open);
    if (plain.find(']') != absl::string_view::npos) {
      return RefuseNames(pattern, "closes a bracket that is not open");
    }
    for (std::string& name : names) absl::StrAppend(&name, plain);
    if (open == absl::string_view::npos) break;
    const size_t close = rest.find(']', open);
    if (close == absl::string_view::npos) {
      return RefuseNames(pattern, "opens a bracket that is not closed");
    }
    ASSIGN_OR_RETURN(
        const std::vector<std::string> numbers,
        ExpandRanges(pattern, rest.substr(open + 1, close - open - 1)));
    if (names.size() * numbers.size() > kMaxDevices) {
      return RefuseNames(pattern, "names more devices than a cluster may have");
    }
    std::vector<std::string> longer;
    for (const std::string& name : names) {
      for (const std::string& number : numbers) {
        longer.push_back(absl::StrCat(name, number));
      }
    }
    names = std::move(longer);
    rest.remove_prefix(close + 1);
  }
  return names;
}

}  // namespace meshwright::cluster
