#include "base/partial_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::base {

absl::StatusOr<PartialFile> PartialFile::Create(const std::string& path) {
  struct stat info = {};
  const bool is_special =
      stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  const std::string place =
      is_special ? path : absl::StrCat(path, ".partial.", getpid());
  PartialFile made(path, place, nullptr);
  const int file =
      open(place.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return made.MakeCannotWriteError();
  made.file_.reset(fdopen(file, "wb"));
  if (made.file_ != nullptr) return made;
  const absl::Status status = made.MakeCannotWriteError();
  close(file);
  return status;
}

PartialFile::~PartialFile() {
  if (file_ != nullptr && HasSibling()) unlink(place_.c_str());
}

absl::Status PartialFile::Write(std::string_view bytes) {
  const size_t written =
      std::fwrite(bytes.data(), 1, bytes.size(), file_.get());
  return written == bytes.size() ? absl::OkStatus() : MakeCannotWriteError();
}

absl::Status PartialFile::Sync() {
  if (std::fflush(file_.get()) != 0) return MakeCannotWriteError();
  if (HasSibling() && fsync(fileno(file_.get())) != 0)
    return MakeCannotWriteError();
  return absl::OkStatus();
}

absl::Status PartialFile::Commit() {
  absl::Status status;
  if (std::fclose(file_.release()) != 0 ||
      (HasSibling() && std::rename(place_.c_str(), path_.c_str()) != 0)) {
    status = MakeCannotWriteError();
    if (HasSibling()) unlink(place_.c_str());
  }
  return status;
}

absl::Status PartialFile::MakeCannotWriteError() const {
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path_));
}

}  // namespace meshwright::base
