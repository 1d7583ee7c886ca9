// Whole files in and out, and a file without a name.
//
// Errors: kNotFound, kPermissionDenied, kResourceExhausted (disk full), or
// kInvalidArgument where a folder is to be read. One sentence that names the
// file.
#ifndef MESHWRIGHT_BASE_FILE_H_
#define MESHWRIGHT_BASE_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/partial_file.h"

namespace meshwright::base {

absl::StatusOr<std::string> ReadFile(const std::string& path);

// Writes a sibling and renames it, so that a reader sees the old or the new
// content and a full disk loses nothing.
absl::Status WriteFile(const std::string& path, std::string_view content);

// A file by its path within a folder.
struct NamedFile {
  std::string name;
  std::string content;
};

// Makes `folder`, and the folders in it, where they are missing.
absl::Status WriteFiles(const std::string& folder,
                        const std::vector<NamedFile>& files);

// $TMPDIR, or /tmp where that is no folder.
std::string FindTemporaryFolder();

// A file in the temporary folder, to write and to read. It has no name and is
// gone with the process, after kill -9 too.
absl::StatusOr<OwnedFile> OpenUnnamedFile();

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_FILE_H_
