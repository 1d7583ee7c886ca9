// WorkerRow: a worker as the coordinator that leads last knew it.
//
// Concept: workers belong to the leader, which writes a row for each. Whoever
// leads next knows by it which ones are to come back, and people are told.
// Threads: a value. Errors: none.
#ifndef MESHWRIGHT_PROFILEDB_STORE_WORKER_ROW_H_
#define MESHWRIGHT_PROFILEDB_STORE_WORKER_ROW_H_

#include <string>
#include <vector>

#include "absl/time/time.h"

namespace meshwright::store {

struct WorkerRow {
  std::string worker;  // its name
  std::string host;
  std::string platform;
  std::string device_kind;
  int device_count = 0;
  std::string reason;  // why it got no programs; empty: it did
  absl::Time seen;     // in whole nanoseconds

  friend bool operator==(const WorkerRow&, const WorkerRow&) = default;
};

struct WorkerChanges {
  std::vector<WorkerRow> written;    // in place of earlier ones of the names
  std::vector<std::string> removed;  // names; unknown ones are fine

  bool IsEmpty() const { return written.empty() && removed.empty(); }
};

}  // namespace meshwright::store

#endif  // MESHWRIGHT_PROFILEDB_STORE_WORKER_ROW_H_
