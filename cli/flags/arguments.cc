#include "cli/flags/arguments.h"

#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace meshwright::cli {

std::optional<absl::Duration> FindDuration(const std::string& text) {
  constexpr int kDaysOfACentury = 36525;
  absl::Duration duration;
  int days = 0;
  if (!text.empty() && text.back() == 'd' &&
      absl::SimpleAtoi(text.substr(0, text.size() - 1), &days)) {
    duration = absl::Hours(24) * days;
  } else if (!absl::ParseDuration(text, &duration)) {
    return std::nullopt;
  }
  if (duration <= absl::ZeroDuration() ||
      duration > absl::Hours(24) * kDaysOfACentury) {
    return std::nullopt;
  }
  return duration;
}

absl::StatusOr<absl::Duration> ParseTime(const std::string& flag,
                                         const std::string& text) {
  const std::optional<absl::Duration> time = FindDuration(text);
  if (time.has_value()) return *time;
  return absl::InvalidArgumentError(absl::StrCat(
      flag, " is \"", text, "\", which is no time; write 45m, 12h or 2d"));
}

absl::StatusOr<int64_t> ParseBytes(const std::string& text) {
  constexpr int64_t kMaxBytes = int64_t{1} << 62;
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
  if (bytes < 1 || bytes >= static_cast<double>(kMaxBytes)) {
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

int64_t CountDevices(const v1::MeshSpec& mesh) {
  int64_t devices = 1;
  for (const int64_t size : mesh.shape()) devices *= size;
  return devices;
}

absl::StatusOr<base::Deadline> ParseDeadline(std::optional<double> seconds,
                                             std::stop_token stop) {
  constexpr double kYear = 365.0 * 24 * 3600;
  base::Deadline deadline;
  deadline.stop = std::move(stop);
  if (!seconds.has_value()) return deadline;
  if (!std::isfinite(*seconds) || *seconds < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--deadline is ", *seconds, "; give a number of seconds, 0 or more"));
  }
  if (*seconds > kYear) return deadline;
  return base::Deadline::After(std::chrono::duration<double>(*seconds),
                               std::move(deadline.stop));
}

}  // namespace meshwright::cli
