// RowHistory: which rows were in the store when its coordinator was killed, and
// what workers measured since.
//
// Concept: a row that was committed is acknowledged: it is there for ever, and
// no worker measures its program again. The store is read from a copy of its
// files, so that the next coordinator is the one that recovers them.
// In -> Out: the files after a kill -> what contradicts those of the kills
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
  // `log`: the keys that workers measured, a line each.
  RowHistory(std::string store_path, const std::string& log_path);

  // Nobody has the store open.
  absl::StatusOr<std::string> Check();

  int64_t rows() const { return static_cast<int64_t>(committed_.size()); }
  int64_t measured() const { return measured_; }

 private:
  absl::StatusOr<std::set<std::string>> ReadRows() const;

  const std::string store_path_;
  const std::string log_path_;
  int64_t log_read_ = 0;  // bytes
  int64_t measured_ = 0;
  std::set<std::string> committed_;  // keys, at the kill before
};

}  // namespace meshwright::integration

#endif  // MESHWRIGHT_TESTS_INTEGRATION_ROW_HISTORY_H_
