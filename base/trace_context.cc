#include "base/trace_context.h"

#include <algorithm>
#include <random>

#include "absl/strings/str_format.h"

namespace meshwright::base {
namespace {

constexpr size_t kTraceIdAt = 3;
constexpr size_t kTraceIdDigits = 32;
constexpr size_t kParentIdAt = 36;
constexpr size_t kParentIdDigits = 16;
constexpr size_t kFlagsAt = 53;
constexpr size_t kLength = 55;

bool IsHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
}

bool IsId(std::string_view text) {
  return IsHex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

}  // namespace

std::optional<std::string> ParseTraceparent(std::string_view text) {
  if (text.size() < kLength) return std::nullopt;
  const std::string_view version = text.substr(0, 2);
  const bool is_separated = text[kTraceIdAt - 1] == '-' &&
                            text[kParentIdAt - 1] == '-' &&
                            text[kFlagsAt - 1] == '-';
  if (!is_separated || !IsHex(version) || version == "ff") return std::nullopt;
  if (text.size() > kLength && (version == "00" || text[kLength] != '-')) {
    return std::nullopt;
  }
  if (!IsId(text.substr(kTraceIdAt, kTraceIdDigits)) ||
      !IsId(text.substr(kParentIdAt, kParentIdDigits)) ||
      !IsHex(text.substr(kFlagsAt, 2))) {
    return std::nullopt;
  }
  return "00" + std::string(text.substr(2, kLength - 2));
}

std::string_view ExtractTraceId(std::string_view traceparent) {
  return traceparent.size() < kLength
             ? std::string_view()
             : traceparent.substr(kTraceIdAt, kTraceIdDigits);
}

std::string NewTraceparent() {
  std::random_device device;
  std::uniform_int_distribution<uint64_t> numbers(1);  // no id is zero
  return absl::StrFormat("00-%016x%016x-%016x-01", numbers(device),
                         numbers(device), numbers(device));
}

}  // namespace meshwright::base
