#include "worker/runner/executable_cache.h"

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/fingerprint.h"

namespace meshwright::worker::runner {

std::string ExecutableCache::FilePath(const std::string& key) const {
  return absl::StrCat(folder_, "/", base::Sha256Hex(key));
}

std::unique_ptr<pjrt::Executable> ExecutableCache::Find(
    const pjrt::Client& client, const std::string& key, int devices) const {
  if (folder_.empty()) return nullptr;
  const auto bytes = base::ReadFile(FilePath(key));
  if (!bytes.ok()) return nullptr;
  auto executable = client.Load(*bytes, devices);
  if (!executable.ok()) return nullptr;
  return *std::move(executable);
}

void ExecutableCache::Keep(const std::string& key,
                           const pjrt::Executable& executable) const {
  if (folder_.empty()) return;
  const auto bytes = executable.Serialize();
  // A full disk costs compile time after a crash, and nothing else.
  if (bytes.ok()) base::WriteFile(FilePath(key), *bytes).IgnoreError();
}

}  // namespace meshwright::worker::runner
