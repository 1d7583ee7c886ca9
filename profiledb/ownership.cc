#include "profiledb/ownership.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace meshwright::store {

absl::StatusOr<std::unique_ptr<StoreOwnership>> StoreOwnership::Take(
    const std::string& path) {
  // Of one file there is one lock, whatever link leads to it.
  std::error_code none;
  const std::filesystem::path file_path =
      std::filesystem::weakly_canonical(path, none);
  const std::string name =
      absl::StrCat(none ? path : file_path.string(), ".coordinator");
  const int file = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", name));
  }
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    close(file);
    if (error == EWOULDBLOCK) {
      return absl::AlreadyExistsError(
          absl::StrCat("another coordinator runs the plans of ", path,
                       "; stop it, or give this one another store"));
    }
    return absl::ErrnoToStatus(error, absl::StrCat("cannot lock ", name));
  }
  return std::unique_ptr<StoreOwnership>(new StoreOwnership(file));
}

StoreOwnership::~StoreOwnership() { close(file_); }

}  // namespace meshwright::store
