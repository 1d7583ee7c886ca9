// RunHighsInChild: a run of HiGHS that ends when its deadline passes.
//
// Concept: HiGHS asks its callbacks and its clock in branch and bound, but for
// seconds neither while it presolves nor in the first linear program. So with a
// deadline or a stop it runs in a forked child, which writes its answer to a
// pipe. When the deadline passes the child is asked to stop, and killed if it
// has not answered within kGrace. Without either it runs on this thread.
// In → Out: as RunHighs; a run that was killed knows nothing.
// Errors: those of RunHighs; kInternal if no child can be started, or if it
// ends without an answer. Threads: any number at once. The child runs HiGHS
// alone and leaves by _exit, so locks that other threads of this process hold
// do not matter to it, but those of the allocator, which takes them before a
// fork.
#ifndef MESHWRIGHT_PLANNER_ILP_HIGHS_IN_CHILD_H_
#define MESHWRIGHT_PLANNER_ILP_HIGHS_IN_CHILD_H_

#include <chrono>

#include "absl/status/statusor.h"
#include "planner/ilp/highs.h"
#include "planner/ilp/linearization.h"

namespace meshwright::ilp {

inline constexpr std::chrono::milliseconds kGrace{5};

absl::StatusOr<HighsAnswer> RunHighsInChild(const Linearization& linear,
                                            const HighsOptions& options);

}  // namespace meshwright::ilp

#endif  // MESHWRIGHT_PLANNER_ILP_HIGHS_IN_CHILD_H_
