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

#include <cstdint>
#include <optional>
#include <string>

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
// folder (TMPDIR) without a name, and is gone with its object.
struct OutgoingBackup {
  base::OwnedFile file;     // at its beginning
  v1::BackupReport report;  // without a file
};

// What a process that was killed in here left there, the next call removes.
absl::StatusOr<OutgoingBackup> MakeOutgoingBackup(const std::string& store);

// kNotFound for a file that is not there.
absl::Status CheckStoreExists(const std::string& store);

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_UPKEEP_BACKUP_H_
