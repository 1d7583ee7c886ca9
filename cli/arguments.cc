#include "cli/arguments.h"

#include <cmath>
#include <iterator>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace meshwright::cli {

absl::StatusOr<int64_t> ParseBytes(const std::string& text) {
  constexpr int64_t kMost = int64_t{1} << 62;
  static const auto* const kUnits =
      new std::map<std::string, int64_t>{{"", 1},
                                         {"b", 1},
                                         {"k", int64_t{1} << 10},
                                         {"kb", 1'000},
                                         {"kib", int64_t{1} << 10},
                                         {"m", int64_t{1} << 20},
                                         {"mb", 1'000'000},
                                         {"mib", int64_t{1} << 20},
                                         {"g", int64_t{1} << 30},
                                         {"gb", 1'000'000'000},
                                         {"gib", int64_t{1} << 30},
                                         {"t", int64_t{1} << 40},
                                         {"tb", 1'000'000'000'000},
                                         {"tib", int64_t{1} << 40}};
  const size_t end = text.find_first_not_of("0123456789.");
  double number = 0;
  const std::string digits = text.substr(0, end);
  const std::string unit =
      end == std::string::npos
          ? ""
          : absl::AsciiStrToLower(absl::StripAsciiWhitespace(text.substr(end)));
  const auto factor = kUnits->find(unit);
  if (!absl::SimpleAtod(digits, &number) || factor == kUnits->end()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", text, "\" is no size; write one like 16GiB or 800MB"));
  }
  const double bytes = number * static_cast<double>(factor->second);
  if (bytes < 1 || bytes >= static_cast<double>(kMost)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the size \"", text,
                     "\" is out of range; write 1 byte or more, below 2^62"));
  }
  // A double would round sizes of 2^53 bytes and more, some of them up.
  int64_t whole = 0;
  if (absl::SimpleAtoi(digits, &whole)) return whole * factor->second;
  return static_cast<int64_t>(std::llround(bytes));
}

absl::StatusOr<v1::MeshSpec> ParseMesh(const std::string& text) {
  v1::MeshSpec mesh;
  int64_t devices = 1;
  for (const auto& axis : absl::StrSplit(text, 'x')) {
    int64_t size = 0;
    if (axis.empty() || !absl::SimpleAtoi(axis, &size)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "\"", text, "\" is no mesh; write its axes like 1x2 or 2x4"));
    }
    if (size < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("the mesh \"", text, "\" has an axis of ", size,
                       " devices; every axis has at least one"));
    }
    if (size > kMaximumDevices || devices * size > kMaximumDevices) {
      return absl::InvalidArgumentError(
          absl::StrCat("the mesh \"", text, "\" has more than ",
                       kMaximumDevices, " devices"));
    }
    devices *= size;
    mesh.add_shape(size);
  }
  return mesh;
}

int64_t DeviceCount(const v1::MeshSpec& mesh) {
  int64_t devices = 1;
  for (const int64_t size : mesh.shape()) devices *= size;
  return devices;
}

absl::StatusOr<std::optional<std::chrono::steady_clock::time_point>> DeadlineIn(
    std::optional<double> seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr double kYear = 365.0 * 24 * 3600;
  std::optional<Clock::time_point> deadline;
  if (!seconds.has_value()) return deadline;
  if (!std::isfinite(*seconds) || *seconds < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--deadline is ", *seconds, "; give a number of seconds, 0 or more"));
  }
  if (*seconds > kYear) return deadline;
  deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(*seconds));
  return deadline;
}

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

}  // namespace meshwright::cli
