#include "worker/comm/executor/slices.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "worker/comm/executor/memory.h"

namespace meshwright::worker::comm {
namespace {

absl::StatusOr<std::string> MakeSlicePath(const std::string& folder,
                                          const Task& task) {
  const bool plain = task.id != "." && task.id != ".." &&
                     task.id.find('/') == std::string::npos &&
                     task.id.find('\0') == std::string::npos;
  if (!plain) {
    return absl::InvalidArgumentError(absl::StrCat(
        "task ", task.id, ": its id cannot be the name of a file in ", folder));
  }
  return absl::StrCat(folder, "/", task.id);
}

}  // namespace

absl::StatusOr<std::vector<std::byte>> ReadSlice(const std::string& folder,
                                                 const Task& task) {
  ASSIGN_OR_RETURN(const std::string path, MakeSlicePath(folder, task));
  ASSIGN_OR_RETURN(const std::string content, base::ReadFile(path));
  ASSIGN_OR_RETURN(auto bytes,
                   Allocate(static_cast<int64_t>(content.size()), task.id));
  if (!content.empty()) {
    std::memcpy(bytes.data(), content.data(), content.size());
  }
  return bytes;
}

absl::Status WriteSlice(const std::string& folder, const Task& task,
                        std::span<const std::byte> bytes) {
  ASSIGN_OR_RETURN(const std::string path, MakeSlicePath(folder, task));
  return base::WriteFile(
      path, std::string_view(reinterpret_cast<const char*>(bytes.data()),
                             bytes.size()));
}

absl::StatusOr<std::vector<std::byte>> MakeSlice(uint64_t seed,
                                                 const Task& task) {
  RETURN_IF_ERROR(CheckFits(task.size_bytes, task.id));
  ASSIGN_OR_RETURN(auto bytes, Allocate(task.size_bytes, task.id));
  const uint64_t start = base::Mix(seed, std::string_view(task.id));
  for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
    const uint64_t word = base::Mix(start, at);
    std::memcpy(bytes.data() + at, &word,
                std::min(sizeof word, bytes.size() - at));
  }
  return bytes;
}

}  // namespace meshwright::worker::comm
