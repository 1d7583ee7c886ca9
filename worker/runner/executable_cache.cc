#include "worker/runner/executable_cache.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/fingerprint.h"

namespace meshwright::worker::runner {

std::string ExecutableCache::FilePath(const std::string& key) const {
  return absl::StrCat(folder_, "/", base::Sha256Hex(key));
}

std::optional<ExecutableCache::Compiled> ExecutableCache::Find(
    const pjrt::Client& client, const std::string& key, int devices) const {
  if (folder_.empty()) return std::nullopt;
  const auto file = base::ReadFile(FilePath(key));
  if (!file.ok()) return std::nullopt;
  // The nanoseconds of its compilation, a line, then the executable.
  const size_t end = file->find('\n');
  int64_t nanoseconds = 0;
  if (end == std::string::npos ||
      !absl::SimpleAtoi(file->substr(0, end), &nanoseconds)) {
    return std::nullopt;
  }
  auto executable = client.Load(file->substr(end + 1), devices);
  if (!executable.ok()) return std::nullopt;
  return Compiled{*std::move(executable), absl::Nanoseconds(nanoseconds)};
}

void ExecutableCache::Keep(const std::string& key,
                           const pjrt::Executable& executable,
                           absl::Duration compile_time) const {
  if (folder_.empty()) return;
  const auto bytes = executable.Serialize();
  if (!bytes.ok()) return;
  // A full disk costs compile time after a crash, and nothing else.
  base::WriteFile(
      FilePath(key),
      absl::StrCat(absl::ToInt64Nanoseconds(compile_time), "\n", *bytes))
      .IgnoreError();
}

}  // namespace meshwright::worker::runner
