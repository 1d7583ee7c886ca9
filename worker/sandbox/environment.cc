#include "worker/sandbox/environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace meshwright::worker::sandbox {
namespace {

constexpr std::array<std::string_view, 10> kNames = {
    "PATH",
    "HOME",
    "USER",
    "TMPDIR",
    "LANG",
    "LC_ALL",
    "LD_LIBRARY_PATH",
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_VISIBLE_DEVICES",
    "NVIDIA_DRIVER_CAPABILITIES"};
constexpr std::array<std::string_view, 5> kPrefixes = {
    "MESHWRIGHT_", "ASAN_", "UBSAN_", "TSAN_", "LSAN_"};

}  // namespace

bool IsKept(std::string_view variable) {
  const bool named =
      std::find(kNames.begin(), kNames.end(), variable) != kNames.end();
  return named ||
         std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) {
                       return variable.substr(0, prefix.size()) == prefix;
                     });
}

std::vector<std::string> RunnerEnvironment(const std::string& xla_flags) {
  std::vector<std::string> kept;
  for (char** it = environ; *it != nullptr; ++it) {
    const std::string_view entry = *it;
    if (IsKept(entry.substr(0, entry.find('=')))) kept.emplace_back(entry);
  }
  const char* const operators = std::getenv("MESHWRIGHT_XLA_FLAGS");
  std::string flags = operators == nullptr ? "" : operators;
  if (!flags.empty() && !xla_flags.empty()) flags += ' ';
  flags += xla_flags;
  if (!flags.empty()) kept.push_back(absl::StrCat("XLA_FLAGS=", flags));
  return kept;
}

}  // namespace meshwright::worker::sandbox
