// PartialFile: a file that has its name only when it is whole.
//
// Concept: writes go to a sibling file, which Commit renames. A reader sees the
// old or the new content, and a full disk loses nothing. A device or a pipe has
// no sibling and is written to as it is.
// Threads: one. Ownership: without Commit, nothing is left.
// Errors: kNotFound, kPermissionDenied or kResourceExhausted (disk full), in
// one sentence that names the file.
#ifndef MESHWRIGHT_BASE_PARTIAL_FILE_H_
#define MESHWRIGHT_BASE_PARTIAL_FILE_H_

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace meshwright::base {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using OwnedFile = std::unique_ptr<std::FILE, CloseFile>;

class PartialFile {
 public:
  // Makes the sibling of `path`, or opens `path` itself where it is a device or
  // a pipe.
  static absl::StatusOr<PartialFile> Create(const std::string& path);
  // One that is open already and keeps what name it has; `name` is for errors.
  PartialFile(const std::string& name, OwnedFile file)
      : path_(name), place_(name), file_(std::move(file)) {}
  PartialFile(PartialFile&&) = default;
  ~PartialFile();

  // Appends. After an error the file is not committed.
  absl::Status Write(std::string_view bytes);
  // Returns when the bytes are on the disk.
  absl::Status Sync();
  // It has its name, and is closed.
  absl::Status Commit();

  // Whether what was written is apart from the file until Commit, in `place`.
  bool HasSibling() const { return place_ != path_; }
  const std::string& place() const { return place_; }

 private:
  PartialFile(std::string path, std::string place, OwnedFile file)
      : path_(std::move(path)),
        place_(std::move(place)),
        file_(std::move(file)) {}

  absl::Status MakeCannotWriteError() const;  // by errno

  std::string path_;
  std::string place_;
  OwnedFile file_;  // null: committed, or moved from
};

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_PARTIAL_FILE_H_
