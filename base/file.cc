#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"

namespace meshwright::base {
namespace {

absl::Status FromErrno(std::string_view action, const std::string& path) {
  return absl::ErrnoToStatus(errno,
                             absl::StrCat(std::string(action), " ", path));
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return FromErrno("cannot open", path);
  struct stat info;
  if (fstat(file, &info) == 0 && S_ISDIR(info.st_mode)) {
    close(file);
    return absl::InvalidArgumentError(absl::StrCat(path, " is a folder"));
  }
  std::string content;
  char buffer[1 << 16];
  while (true) {
    const ssize_t size = read(file, buffer, sizeof(buffer));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      const absl::Status status = FromErrno("cannot read", path);
      close(file);
      return status;
    }
    if (size == 0) break;
    content.append(buffer, size);
  }
  close(file);
  return content;
}

absl::Status WriteFile(const std::string& path, std::string_view content) {
  struct stat info;
  const bool special = stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  const std::string target =
      special ? path : absl::StrCat(path, ".partial.", getpid());
  const int file =
      open(target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return FromErrno("cannot write", path);
  absl::Status status;
  while (!content.empty() && status.ok()) {
    const ssize_t size = write(file, content.data(), content.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      status = FromErrno("cannot write", path);
    } else {
      content.remove_prefix(size);
    }
  }
  if (close(file) != 0 && status.ok()) status = FromErrno("cannot write", path);
  if (special) return status;
  if (status.ok() && rename(target.c_str(), path.c_str()) != 0) {
    status = FromErrno("cannot write", path);
  }
  if (!status.ok()) unlink(target.c_str());
  return status;
}

}  // namespace meshwright::base
