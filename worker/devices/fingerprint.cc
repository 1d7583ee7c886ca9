#include "worker/devices/fingerprint.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/shared_library.h"
#include "worker/devices/control_groups.h"
#include "worker/devices/machine.h"

namespace meshwright::worker::devices {
namespace {

namespace fs = std::filesystem;

// Vector and matrix extensions, by the beginnings of the kernel's names for
// them, x86 and Arm.
constexpr std::array<const char*, 10> kExtensions = {
    "sse4", "avx", "fma", "f16c", "amx", "vnni", "asimd", "sve", "sme", "bf16"};

bool IsExtension(absl::string_view flag) {
  return std::any_of(
      kExtensions.begin(), kExtensions.end(),
      [&](const char* it) { return absl::StartsWith(flag, it); });
}

void ReadProcessor(const fs::path& root, v1::DeviceFingerprint& fingerprint) {
  std::ifstream file(root / "proc/cpuinfo");
  std::string line;
  std::set<std::string> sets;
  while (std::getline(file, line)) {
    const std::vector<std::string> pair =
        absl::StrSplit(line, absl::MaxSplits(':', 1));
    if (pair.size() != 2) continue;
    const std::string name(absl::StripAsciiWhitespace(pair[0]));
    const std::string value(absl::StripAsciiWhitespace(pair[1]));
    if (fingerprint.processor().empty() &&
        (name == "model name" || name == "CPU part")) {
      fingerprint.set_processor(value);
    }
    if (sets.empty() && (name == "flags" || name == "Features")) {
      for (const absl::string_view flag : absl::StrSplit(value, ' ')) {
        if (IsExtension(flag)) sets.emplace(flag);
      }
    }
  }
  fingerprint.mutable_instruction_sets()->Assign(sets.begin(), sets.end());
}

int CountNumaNodes(const fs::path& root) {
  std::error_code error;
  int nodes = 0;
  for (const auto& entry :
       fs::directory_iterator(root / "sys/devices/system/node", error)) {
    int number = 0;
    const std::string name = entry.path().filename();
    if (absl::StartsWith(name, "node") &&
        absl::SimpleAtoi(name.substr(4), &number)) {
      ++nodes;
    }
  }
  return nodes;
}

std::string ReadWord(const fs::path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

// "performance, no turbo"; empty: a virtual machine has none.
std::string NameGovernor(const fs::path& root) {
  const fs::path folder = root / "sys/devices/system/cpu";
  std::string policy = ReadWord(folder / "cpu0/cpufreq/scaling_governor");
  const bool is_held = ReadWord(folder / "intel_pstate/no_turbo") == "1" ||
                       ReadWord(folder / "cpufreq/boost") == "0";
  if (is_held) policy += policy.empty() ? "no turbo" : ", no turbo";
  return policy;
}

// The first of these names that can be opened, by itself or beside the plugin.
std::optional<base::SharedLibrary> OpenLibrary(
    const fs::path& plugin, const std::vector<std::string>& names) {
  std::vector<fs::path> folders = {""};
  for (const std::string& folder :
       base::ListPipFolders(plugin, {"cu13", "cublas", "cudnn", "nccl"})) {
    folders.emplace_back(folder);
  }
  for (const fs::path& folder : folders) {
    for (const std::string& name : names) {
      auto library = base::SharedLibrary::Open(folder / name, "");
      if (library.ok()) return *std::move(library);
    }
  }
  return std::nullopt;
}

// Beginnings of names that NCCL does not read, or by which it only prints more:
// modules of clusters and container images set them.
constexpr absl::string_view kNoNcclSettings[] = {
    "NCCL_DEBUG",        "NCCL_VERSION=", "NCCL_HOME=", "NCCL_ROOT",
    "NCCL_DIR=",         "NCCL_PATH=",    "NCCL_LIB=",  "NCCL_LIB_DIR=",
    "NCCL_INCLUDE_DIR=", "NCCL_LIBRARY"};

// "NCCL_ALGO=Ring": how the operator sets NCCL, sorted.
std::vector<std::string> ListNcclSettings() {
  std::vector<std::string> settings;
  for (char** it = environ; *it != nullptr; ++it) {
    const absl::string_view entry = *it;
    if (absl::StartsWith(entry, "NCCL_") &&
        std::none_of(
            std::begin(kNoNcclSettings), std::end(kNoNcclSettings),
            [&](auto other) { return absl::StartsWith(entry, other); })) {
      settings.emplace_back(entry);
    }
  }
  std::sort(settings.begin(), settings.end());
  return settings;
}

}  // namespace

int64_t RoundToGib(int64_t bytes) {
  constexpr int64_t kGib = int64_t{1} << 30;
  return (bytes + kGib / 2) / kGib;
}

void DescribeProcessors(v1::DeviceFingerprint& fingerprint,
                        const fs::path& root) {
  ReadProcessor(root, fingerprint);
  double cores = std::thread::hardware_concurrency();
  const auto quota = FindCpuQuota(root);
  if (quota.has_value()) cores = std::min(cores, std::ceil(*quota));
  fingerprint.set_cores(static_cast<int>(cores));
  fingerprint.set_numa_nodes(CountNumaNodes(root));
  fingerprint.set_clock_policy(NameGovernor(root));
  fingerprint.set_memory_gib(
      RoundToGib(ReadTotalMemoryBytes(root).value_or(0)));
}

void DescribeDriver(v1::DeviceFingerprint& fingerprint, const fs::path& root) {
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  575.57.08  Thu ..."
  std::ifstream file(root / "proc/driver/nvidia/version");
  std::string line;
  if (!std::getline(file, line)) return;
  for (const absl::string_view word :
       absl::StrSplit(line, ' ', absl::SkipEmpty())) {
    if (absl::StrContains(word, '.') && absl::ascii_isdigit(word[0])) {
      fingerprint.set_driver_version(std::string(word));
      return;
    }
  }
}

void DescribeLibraries(v1::DeviceFingerprint& fingerprint,
                       const fs::path& plugin) {
  std::vector<std::string> found;
  const auto add = [&](const std::string& name, const char* symbol,
                       const std::vector<std::string>& files) {
    const auto library = OpenLibrary(plugin, files);
    size_t (*version)() = nullptr;
    if (!library.has_value() || !library->Find(symbol, &version).ok()) return;
    found.push_back(absl::StrCat(name, " ", version()));
  };
  add("cuBLASLt", "cublasLtGetVersion",
      {"libcublasLt.so.13", "libcublasLt.so.12"});
  add("cuDNN", "cudnnGetVersion", {"libcudnn.so.9"});
  const auto nccl = OpenLibrary(plugin, {"libnccl.so.2"});
  int (*nccl_version)(int*) = nullptr;
  int number = 0;
  if (nccl.has_value() && nccl->Find("ncclGetVersion", &nccl_version).ok() &&
      nccl_version(&number) == 0) {
    found.push_back(absl::StrCat("NCCL ", number));
  }
  for (std::string& setting : ListNcclSettings()) {
    found.push_back(std::move(setting));
  }
  fingerprint.set_libraries(absl::StrJoin(found, ", "));
}

}  // namespace meshwright::worker::devices
