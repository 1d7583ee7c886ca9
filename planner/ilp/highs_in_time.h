// RunHighsInTime: a run of HiGHS for those who may not wait.
//
// Concept: while it makes a program smaller HiGHS looks neither at its time
// limit nor at callbacks, for seconds in programs of a hundred thousand
// entries. So it runs on a thread of its own, which is asked to stop when the
// time is up; what does not answer within kGrace is left behind: it ends by
// itself at the next look, nobody reads its answer, and the process waits for
// it when it exits. Without a deadline or a stop the run stays on the caller's
// thread.
// In → Out: as RunHighs; one that was left behind knows nothing.
// Errors: those of RunHighs.
// Threads: any number at once. `is_over` is called by the caller's thread only.
#ifndef MESHWRIGHT_PLANNER_ILP_HIGHS_IN_TIME_H_
#define MESHWRIGHT_PLANNER_ILP_HIGHS_IN_TIME_H_

#include <chrono>
#include <memory>

#include "absl/status/statusor.h"
#include "planner/ilp/highs.h"
#include "planner/ilp/linear.h"

namespace meshwright::ilp {

inline constexpr std::chrono::milliseconds kGrace{5};

absl::StatusOr<HighsAnswer> RunHighsInTime(std::shared_ptr<const Linear> linear,
                                           const HighsOptions& options);

}  // namespace meshwright::ilp

#endif  // MESHWRIGHT_PLANNER_ILP_HIGHS_IN_TIME_H_
