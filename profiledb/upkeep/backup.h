// BackUpStore, OutgoingBackup: a copy of a store in a new file, while it is in
// use.
//
// Concept: the copy is a store of SQLite that opens like any other. Of a file
// it is the file of one moment (SQLite's backup). Of a database of PostgreSQL
// it is what CopyWholeStore reads, which also brings it back. The log names
// what is left out of it. It has its name when it is whole.
//
// Threads: any; other processes go on. Errors: kNotFound for a store that is
// not there, kAlreadyExists for a file that is there, kResourceExhausted: the
// disk is full, and nothing is left; those of the store.
#ifndef MESHWRIGHT_PROFILEDB_UPKEEP_BACKUP_H_
#define MESHWRIGHT_PROFILEDB_UPKEEP_BACKUP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/partial_file.h"
#include "proto/v1/reports.pb.h"

namespace meshwright::store {

struct BackupOptions {
  // The copy may not grow beyond this; the backup then says that the disk is
  // full.
  std::optional<int64_t> max_bytes;
};

// `store` is a path or a URL.
absl::StatusOr<v1::BackupReport> BackUpStore(const std::string& store,
                                             const std::string& file,
                                             const BackupOptions& options = {});

// A copy that goes to another process in pieces. It lies in the temporary
// folder (TMPDIR) without a name, and is gone with its object. What a process
// that was killed in Make left there, the next Make removes.
// Threads: one at a time.
class OutgoingBackup {
 public:
  static absl::StatusOr<std::unique_ptr<OutgoingBackup>> Make(
      const std::string& store);

  // The next bytes, at most `maximum`; empty: there are no more.
  absl::StatusOr<std::string> Read(size_t maximum);
  // Without a file.
  const v1::BackupReport& report() const { return report_; }

 private:
  OutgoingBackup(base::OwnedFile file, v1::BackupReport report)
      : file_(std::move(file)), report_(std::move(report)) {}

  const base::OwnedFile file_;
  const v1::BackupReport report_;
};

// kNotFound for a file that is not there.
absl::Status CheckStoreExists(const std::string& store);

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_UPKEEP_BACKUP_H_
