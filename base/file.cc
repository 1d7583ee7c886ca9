#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

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
  ASSIGN_OR_RETURN(PartialFile file, PartialFile::Create(path));
  RETURN_IF_ERROR(file.Write(content));
  return file.Commit();
}

absl::Status WriteFiles(const std::string& folder,
                        const std::vector<NamedFile>& files) {
  for (const NamedFile& file : files) {
    const std::filesystem::path path =
        std::filesystem::path(folder) / file.name;
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error) {
      return absl::InvalidArgumentError(
          absl::StrCat("cannot make the folder ", path.parent_path().string(),
                       ": ", error.message()));
    }
    RETURN_IF_ERROR(WriteFile(path.string(), file.content));
  }
  return absl::OkStatus();
}

std::string FindTemporaryFolder() {
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path(error);
  return error ? "/tmp" : folder.string();
}

absl::StatusOr<OwnedFile> OpenUnnamedFile() {
  const std::string folder = FindTemporaryFolder();
  int descriptor = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0) {  // a file system without unnamed files
    std::string name = folder + "/meshwright-XXXXXX";
    descriptor = mkostemp(name.data(), O_CLOEXEC);
    if (descriptor >= 0) unlink(name.c_str());
  }
  if (descriptor < 0) return FromErrno("cannot write to", folder);
  OwnedFile file(fdopen(descriptor, "w+b"));
  if (file != nullptr) return file;
  const absl::Status status = FromErrno("cannot write to", folder);
  close(descriptor);
  return status;
}

}  // namespace meshwright::base
