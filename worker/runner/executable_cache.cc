#include "worker/runner/executable_cache.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/fingerprint.h"

namespace meshwright::worker::runner {
namespace {

// Half of what one message may have.
constexpr int64_t kMaximumTold = int64_t{8} << 20;

std::string NameGangKey(const std::string& key) {
  return absl::StrCat("meshwright/executable/", base::Sha256Hex(key));
}

}  // namespace

std::string ExecutableCache::FilePath(const std::string& key) const {
  return absl::StrCat(folder_, "/", base::Sha256Hex(key));
}

std::string ExecutableCache::ReadKept(const std::string& key) const {
  if (folder_.empty()) return "";
  return base::ReadFile(FilePath(key)).value_or("");
}

std::optional<ExecutableCache::Compiled> ExecutableCache::Find(
    const pjrt::Client& client, const std::string& key, int devices) {
  std::string kept = ReadKept(key);
  if (line_ != nullptr && line_->rank() > 0) {
    // Where the line is over, so is the gang.
    auto told = line_->Get(NameGangKey(key), absl::InfiniteDuration());
    if (kept.empty()) kept = told.value_or("");
  }
  // There is no room for what this one makes: all compile it at the same time.
  if (kept.empty() && told_bytes_ > maximum_told_bytes_) GiveUp(key);
  // The nanoseconds of its compilation, a line, then the executable.
  const size_t end = kept.find('\n');
  int64_t nanoseconds = 0;
  if (end == std::string::npos ||
      !absl::SimpleAtoi(kept.substr(0, end), &nanoseconds)) {
    return std::nullopt;
  }
  auto executable = client.Load(kept.substr(end + 1), devices);
  if (!executable.ok()) return std::nullopt;
  Tell(key, kept);
  return Compiled{*std::move(executable), absl::Nanoseconds(nanoseconds)};
}

void ExecutableCache::Keep(const std::string& key,
                           const pjrt::Executable& executable,
                           absl::Duration compile_time) {
  if (folder_.empty() && line_ == nullptr) return;
  const auto bytes = executable.Serialize();
  if (!bytes.ok()) return GiveUp(key);
  const std::string kept =
      absl::StrCat(absl::ToInt64Nanoseconds(compile_time), "\n", *bytes);
  // A full disk costs compile time after a crash, and nothing else.
  if (!folder_.empty()) base::WriteFile(FilePath(key), kept).IgnoreError();
  Tell(key, kept);
}

void ExecutableCache::GiveUp(const std::string& key) { Tell(key, ""); }

void ExecutableCache::Tell(const std::string& key, const std::string& kept) {
  if (line_ == nullptr || line_->rank() != 0) return;
  const int64_t bytes = std::ssize(kept);
  const bool fits = bytes <= kMaximumTold &&
                    told_bytes_.fetch_add(bytes) + bytes <= maximum_told_bytes_;
  line_->Put(NameGangKey(key), fits ? kept : "").IgnoreError();
}

}  // namespace meshwright::worker::runner
