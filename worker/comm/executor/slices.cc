#include "worker/comm/executor/slices.h"

#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

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

// A device or a pipe is written to as it is.
bool IsSpecial(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  return std::filesystem::exists(status) &&
         !std::filesystem::is_regular_file(status);
}

absl::Status WriteTo(const std::string& path, const Task& task,
                     std::span<const std::byte> bytes) {
  const absl::Status status = base::WriteFile(
      path, std::string_view(reinterpret_cast<const char*>(bytes.data()),
                             bytes.size()));
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat("task ", task.id, ": ", status.message()));
}

// A full disk is a failure of this host, and no fault of the plan's.
absl::Status BlameHost(const absl::Status& status) {
  // Also of a file that is larger than the disk's files may be.
  const bool is_full =
      absl::IsResourceExhausted(status) || absl::IsOutOfRange(status);
  return is_full ? absl::AbortedError(status.message()) : status;
}

absl::Status StageSlices(const std::string& folder, const std::string& staging,
                         const Plan& plan, std::span<const int> tasks,
                         std::span<const std::vector<std::byte>> slices) {
  for (const int index : tasks) {
    const Task& task = plan.tasks[index];
    ASSIGN_OR_RETURN(const std::string path, MakeSlicePath(folder, task));
    if (IsSpecial(path)) continue;
    RETURN_IF_ERROR(
        WriteTo(absl::StrCat(staging, "/", index), task, slices[index]));
  }
  return {};
}

absl::Status PublishSlices(const std::string& folder,
                           const std::string& staging, const Plan& plan,
                           std::span<const int> tasks,
                           std::span<const std::vector<std::byte>> slices) {
  for (const int index : tasks) {
    const Task& task = plan.tasks[index];
    ASSIGN_OR_RETURN(const std::string path, MakeSlicePath(folder, task));
    if (IsSpecial(path)) {
      RETURN_IF_ERROR(WriteTo(path, task, slices[index]));
      continue;
    }
    const std::string staged = absl::StrCat(staging, "/", index);
    if (std::rename(staged.c_str(), path.c_str()) != 0) {
      return absl::ErrnoToStatus(
          errno, absl::StrCat("task ", task.id, ": cannot write ", path));
    }
  }
  return {};
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

absl::Status CheckSliceFiles(const std::string& folder, const Plan& plan,
                             std::span<const int> tasks) {
  for (const int task : tasks) {
    ASSIGN_OR_RETURN(const std::string path,
                     MakeSlicePath(folder, plan.tasks[task]));
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
      return absl::InvalidArgumentError(
          absl::StrCat("task ", plan.tasks[task].id, ": ", path,
                       " is a folder; move it or give another --output"));
    }
  }
  return {};
}

absl::Status WriteSlices(const std::string& folder, const Plan& plan,
                         std::span<const int> tasks,
                         std::span<const std::vector<std::byte>> slices) {
  if (tasks.empty()) return {};
  RETURN_IF_ERROR(CheckSliceFiles(folder, plan, tasks));
  std::string staging = absl::StrCat(folder, "/.slices-XXXXXX");
  if (mkdtemp(staging.data()) == nullptr) {
    return BlameHost(
        absl::ErrnoToStatus(errno, absl::StrCat("cannot write in ", folder)));
  }
  absl::Status status = StageSlices(folder, staging, plan, tasks, slices);
  if (status.ok()) {
    status = PublishSlices(folder, staging, plan, tasks, slices);
  }
  std::error_code ignored;
  std::filesystem::remove_all(staging, ignored);
  return BlameHost(status);
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
