// RowHistory: which rows were in the store when a coordinator was killed, and
// what workers measured since.
//
// Concept: a row that was committed is there for ever, and no worker measures
// its program again after the kill. Nor is a program given to a worker once its
// result is acknowledged, whoever was killed or not; its row is there. A file's
// store is read from a copy, so that the next coordinator is the one that
// recovers it; a database's, while other coordinators go on with it.
//   It asks for rows without noise, which plans measure again, and for a store
// that is never away.
// In -> Out: the store after a kill -> what contradicts that of the kills
// before, empty where nothing does.
// Errors: those of the store. Threads: one.
#ifndef MESHWRIGHT_TESTS_INTEGRATION_ROW_HISTORY_H_
#define MESHWRIGHT_TESTS_INTEGRATION_ROW_HISTORY_H_

#include <cstdint>
#include <set>
#include <string>

#include "absl/status/statusor.h"

namespace meshwright::integration {

class RowHistory {
 public:
  // `store`: a path or a URL. `log_path`: the LOG of made_up_worker.cc.
  RowHistory(std::string store, const std::string& log_path);

  // Nobody has a file open.
  absl::StatusOr<std::string> Check();

  int64_t rows() const { return static_cast<int64_t>(committed_.size()); }
  int64_t measured() const { return measured_; }
  // Programs.
  int64_t acknowledged() const {
    return static_cast<int64_t>(acknowledged_.size());
  }

 private:
  absl::Status CopyFile(const std::string& copy) const;
  absl::StatusOr<std::set<std::string>> ReadRows() const;
  // A program that was given again; empty: none.
  std::string ReadLeases();

  const std::string store_;
  const std::string log_path_;
  int64_t log_read_ = 0;     // bytes
  int64_t leases_read_ = 0;  // bytes
  int64_t measured_ = 0;
  std::set<std::string> committed_;     // keys, at the kill before
  std::set<std::string> acknowledged_;  // keys
};

}  // namespace meshwright::integration

#endif  // MESHWRIGHT_TESTS_INTEGRATION_ROW_HISTORY_H_
