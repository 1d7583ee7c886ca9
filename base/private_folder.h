// PrivateFolder: a folder of this process alone, gone when the process is.
//
// Concept: made with mode 0700 under a name nobody can foresee, and locked
// while it lives. The kernel drops the lock of a process that dies, kill -9
// too; Sweep then finds a folder without a lock and removes it.
//   A folder of another user, or one whose lock the file system cannot take, is
// left alone.
// Threads: any; one object in one thread. Errors: errno's, in one sentence with
// the folder. Ownership: the destructor removes the folder and all in it.
#ifndef MESHWRIGHT_BASE_PRIVATE_FOLDER_H_
#define MESHWRIGHT_BASE_PRIVATE_FOLDER_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace meshwright::base {

class PrivateFolder {
 public:
  // In `parent`, named `prefix` and six letters.
  static absl::StatusOr<std::unique_ptr<PrivateFolder>> Make(
      const std::string& parent, const std::string& prefix);
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::string& path() const { return path_; }
  // OK, or why Sweep would not find this folder after a kill -9.
  const absl::Status& locked() const { return locked_; }

  // A new file of mode 0600, in place of any of that name: never through a
  // link. Errors: kResourceExhausted where the disk is full.
  absl::Status WriteFile(const std::string& name,
                         std::string_view content) const;

  // Removes the folders of such names in `parent` that this user owns and no
  // process holds; their number.
  static int Sweep(const std::string& parent, const std::string& prefix);

 private:
  PrivateFolder() = default;

  std::string path_;
  int lock_ = -1;
  absl::Status locked_;
};

}  // namespace meshwright::base

#endif  // MESHWRIGHT_BASE_PRIVATE_FOLDER_H_
