#include "base/private_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace meshwright::base {
namespace {

// Below 0: no folder, or a link.
int OpenFolder(const std::string& path) {
  return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int Lock(int folder, int operation) {
  while (true) {
    if (flock(folder, operation) == 0) return 0;
    if (errno != EINTR) return errno;
  }
}

// Whether `folder`, which is open, is still there under its name: a sweep may
// have come between making and locking it.
bool IsAt(int folder, const std::string& path) {
  struct stat open_one = {};
  struct stat named = {};
  return fstat(folder, &open_one) == 0 && lstat(path.c_str(), &named) == 0 &&
         open_one.st_ino == named.st_ino && open_one.st_dev == named.st_dev;
}

void RemoveAll(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

bool IsOwn(int folder) {
  struct stat info = {};
  return fstat(folder, &info) == 0 && info.st_uid == geteuid();
}

absl::Status WriteAll(int file, std::string_view content,
                      const std::string& path) {
  while (!content.empty()) {
    const ssize_t size = write(file, content.data(), content.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
    }
    content.remove_prefix(size);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<PrivateFolder>> PrivateFolder::Make(
    const std::string& parent, const std::string& prefix) {
  while (true) {
    std::string path = absl::StrCat(parent, "/", prefix, "XXXXXX");
    if (mkdtemp(path.data()) == nullptr) {
      return absl::ErrnoToStatus(
          errno, absl::StrCat("cannot make a folder in ", parent));
    }
    const int lock = OpenFolder(path);
    if (lock < 0 && errno == ENOENT) continue;
    if (lock < 0) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
    }
    const int error = Lock(lock, LOCK_EX);
    if (error == 0 && !IsAt(lock, path)) {
      close(lock);
      continue;
    }
    std::unique_ptr<PrivateFolder> folder(new PrivateFolder());
    folder->path_ = std::move(path);
    folder->lock_ = lock;
    if (error != 0) {
      folder->locked_ = absl::ErrnoToStatus(
          error, absl::StrCat("no folder can be locked in ", parent));
    }
    return folder;
  }
}

PrivateFolder::~PrivateFolder() {
  RemoveAll(path_);
  close(lock_);
}

absl::Status PrivateFolder::WriteFile(const std::string& name,
                                      std::string_view content) const {
  const std::string path = absl::StrCat(path_, "/", name);
  unlink(path.c_str());
  const int file = open(
      path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
  }
  absl::Status status = WriteAll(file, content, path);
  if (close(file) != 0 && status.ok()) {
    status = absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
  }
  if (!status.ok()) unlink(path.c_str());
  return status;
}

int PrivateFolder::Sweep(const std::string& parent, const std::string& prefix) {
  std::vector<std::string> found;
  std::error_code error;
  for (std::filesystem::directory_iterator it(parent, error), end;
       !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.size() == prefix.size() + 6 && absl::StartsWith(name, prefix)) {
      found.push_back(it->path().string());
    }
  }
  int swept = 0;
  for (const std::string& path : found) {
    const int folder = OpenFolder(path);
    if (folder < 0) continue;
    if (IsOwn(folder) && Lock(folder, LOCK_EX | LOCK_NB) == 0 &&
        IsAt(folder, path)) {
      RemoveAll(path);
      ++swept;
    }
    close(folder);
  }
  return swept;
}

}  // namespace meshwright::base
