#include "cli/text/format.h"

#include <cmath>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace meshwright::cli {

std::string FormatBytes(int64_t bytes) {
  static constexpr const char* kUnits[] = {"B",   "KiB", "MiB",
                                           "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (std::abs(value) >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? absl::StrCat(bytes, " B")
                   : absl::StrFormat("%.1f %s", value, kUnits[unit]);
}

std::string FormatSeconds(double seconds) {
  if (seconds >= 90) return absl::StrFormat("%.0f min", seconds / 60);
  if (seconds >= 1) return absl::StrFormat("%.1f s", seconds);
  if (seconds >= 1e-3) return absl::StrFormat("%.1f ms", seconds * 1e3);
  return absl::StrFormat("%.1f us", seconds * 1e6);
}

std::string FormatChange(double seconds) {
  return absl::StrCat(seconds < 0 ? "-" : "+",
                      FormatSeconds(std::abs(seconds)));
}

std::string FormatBytesChange(int64_t bytes) {
  return absl::StrCat(bytes < 0 ? "-" : "+", FormatBytes(std::abs(bytes)));
}

std::string FormatRanges(absl::Span<const int32_t> numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    absl::StrAppend(&text, i == 0 ? "" : ", ", numbers[i]);
    if (end > i + 1) absl::StrAppend(&text, "-", numbers[end - 1]);
    i = end;
  }
  return text;
}

std::string FormatRange(int64_t first, int64_t last) {
  return first == last ? absl::StrCat(first) : absl::StrCat(first, "-", last);
}

}  // namespace meshwright::cli
