#include "worker/sandbox/environment.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace meshwright::worker::sandbox {
namespace {

constexpr std::string_view kNames[] = {"PATH",
                                       "HOME",
                                       "USER",
                                       "TMPDIR",
                                       "LANG",
                                       "LC_ALL",
                                       "LD_LIBRARY_PATH",
                                       "CUDA_DEVICE_ORDER",
                                       "CUDA_VISIBLE_DEVICES",
                                       "NVIDIA_VISIBLE_DEVICES",
                                       "NVIDIA_DRIVER_CAPABILITIES",
                                       "MESHWRIGHT_BUILD_DIR",
                                       "MESHWRIGHT_CALM_SECONDS",
                                       "MESHWRIGHT_CPU_PLUGIN",
                                       "MESHWRIGHT_CUDA_PLUGIN",
                                       "MESHWRIGHT_DEVICES_PER_HOST",
                                       "MESHWRIGHT_LOCK_FOLDER",
                                       "MESHWRIGHT_MEMORY_FRACTION",
                                       "MESHWRIGHT_XLA_FLAGS"};
constexpr std::string_view kPrefixes[] = {"ASAN_", "UBSAN_", "TSAN_", "LSAN_",
                                          "NCCL_"};

}  // namespace

bool IsKept(std::string_view variable) {
  const bool named = std::find(std::begin(kNames), std::end(kNames),
                               variable) != std::end(kNames);
  return named || std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                              [&](std::string_view prefix) {
                                return variable.starts_with(prefix);
                              });
}

std::vector<std::string> MakeRunnerEnvironment(const std::string& xla_flags) {
  std::vector<std::string> kept;
  for (char** it = environ; *it != nullptr; ++it) {
    const std::string_view entry = *it;
    if (IsKept(entry.substr(0, entry.find('=')))) kept.emplace_back(entry);
  }
  // As NVML numbers devices, whose UUIDs locks and sensors go by.
  if (std::getenv("CUDA_DEVICE_ORDER") == nullptr) {
    kept.emplace_back("CUDA_DEVICE_ORDER=PCI_BUS_ID");
  }
  const char* const operators = std::getenv("MESHWRIGHT_XLA_FLAGS");
  std::string flags = operators == nullptr ? "" : operators;
  if (!flags.empty() && !xla_flags.empty()) flags += ' ';
  flags += xla_flags;
  if (!flags.empty()) kept.push_back(absl::StrCat("XLA_FLAGS=", flags));
  return kept;
}

}  // namespace meshwright::worker::sandbox
