// Agreement: what the members of a gang find together.
//
// Concept: a step that fails on one member fails on all, and a time is that of
// the slowest. After each agreement every member has the same answer, and so
// takes the same way. A runner that is alone agrees with itself.
// Threads: one. Errors: those that were agreed upon, and those of GangLine.
#ifndef MESHWRIGHT_WORKER_RUNNER_AGREEMENT_H_
#define MESHWRIGHT_WORKER_RUNNER_AGREEMENT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/runner/gang_line.h"
#include "worker/timing/sample_set.h"

namespace meshwright::worker::runner {

class Agreement {
 public:
  // `line` outlives it; null: alone.
  explicit Agreement(GangLine* line) : line_(line) {}

  bool is_alone() const { return line_ == nullptr; }

  // The failure of the first member that has one.
  absl::Status Agree(const absl::Status& own) const;
  // The same, or the slowest member's sample.
  absl::StatusOr<timing::Sample> Agree(
      const absl::StatusOr<timing::Sample>& own) const;
  absl::StatusOr<int64_t> FindSmallest(int64_t own) const;

 private:
  GangLine* const line_;
};

}  // namespace meshwright::worker::runner

#endif  // MESHWRIGHT_WORKER_RUNNER_AGREEMENT_H_
