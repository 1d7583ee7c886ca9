#include "base/sharding.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace meshwright::base {

ShardingSpec ToSpec(const AxisDims& dims, int rank) {
  ShardingSpec spec(rank);
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] >= 0) spec[dims[axis]].push_back(static_cast<int>(axis));
  }
  return spec;
}

absl::StatusOr<ShardingSpec> ParseSpec(std::string_view text,
                                       const std::string& field) {
  ShardingSpec spec;
  const auto bad = [&](const std::string& what) {
    return absl::InvalidArgumentError(absl::StrCat(
        field, " is \"", absl::CEscape(std::string(text.substr(0, 80))),
        "\": ", what,
        "; write R or S with its mesh axes per dimension, such as RS01R"));
  };
  bool open = false;  // an S that waits for its first axis
  for (const char letter : text) {
    if (absl::ascii_isdigit(letter)) {
      if (spec.empty() || (spec.back().empty() && !open)) {
        return bad("an axis stands without an S before it");
      }
      spec.back().push_back(letter - '0');
      open = false;
      continue;
    }
    if (open) return bad("an S names no mesh axis");
    if (letter != 'R' && letter != 'S') {
      return bad(absl::StrCat("'", absl::CEscape(std::string(1, letter)),
                              "' is neither R, S nor an axis"));
    }
    spec.emplace_back();
    open = letter == 'S';
  }
  if (open) return bad("an S names no mesh axis");
  return spec;
}

std::string FormatSpec(const ShardingSpec& spec) {
  std::string text;
  for (const std::vector<int>& axes : spec) {
    absl::StrAppend(&text, axes.empty() ? "R" : "S");
    for (const int axis : axes) absl::StrAppend(&text, axis);
  }
  return text;
}

}  // namespace meshwright::base
