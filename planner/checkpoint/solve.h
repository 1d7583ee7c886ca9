// Solve: the fastest memory-persistent schedule of a chain within a budget.
//
// Concept: memory-persistent means that an activation that was kept stays until
// its backward. First it saves everything, if that fits. Then come the exact
// minimum memory, for the verdict, and a first schedule by rule of thumb. A
// table by slots follows, whose figures bound every schedule from below and
// lead to a better one that fits byte by byte. Last, for short chains, come the
// exact Pareto fronts, pruned by that bound.
// In → Out: a chain and a budget → a schedule with its certified lower bound,
// or the least memory that any needs. Both are over memory-persistent
// schedules; makespan and peak are those of Replay. Anytime: a deadline or a
// stop gives the best schedule so far with the bound so far. A verdict, and a
// first schedule where there is one, always come. Ties: the same answer every
// time, whatever the threads. Threads: any number of calls at once; nothing is
// shared. Errors: kInvalidArgument for a chain that does not validate or a
// budget that is not positive, kOutOfRange when the schedule takes over 106
// days, kInternal for a schedule that breaks its budget, a fault of a solver.
// Source: papers/map_colossal_auto.txt 5.2; costs.h says where it is
// mended.
#ifndef MESHWRIGHT_PLANNER_CHECKPOINT_SOLVE_H_
#define MESHWRIGHT_PLANNER_CHECKPOINT_SOLVE_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/deadline.h"
#include "planner/checkpoint/chain.h"
#include "planner/checkpoint/operation.h"

namespace meshwright::checkpoint {

struct Options {
  base::Deadline deadline;
  int threads = 0;         // 0: as many as the machine has
  int slots = 0;           // of a long chain's table; 0: 500, or 5 per 6 stages
  int exact_stages = 256;  // longer chains are solved by slots alone
  // Work budget: the exact Pareto fronts give up after so many steps; tables of
  // slots get fewer slots rather than more bytes.
  int64_t exact_steps = 500'000'000;
  int64_t table_bytes = 2'200'000'000;
};

struct Plan {
  Sequence sequence;
  Picoseconds makespan{0};
  int64_t peak_bytes = 0;
};

struct Answer {
  std::optional<Plan> plan;  // empty: none fits
  Picoseconds lower_bound{0};
  std::optional<int64_t> least_memory_bytes;  // when none fits
  std::string solver;  // "save all", "exact", "slots", "first"
  std::chrono::duration<double> elapsed{0};

  bool Optimal() const {
    return plan.has_value() && plan->makespan == lower_bound;
  }
};

absl::StatusOr<Answer> Solve(const Chain& chain, int64_t budget_bytes,
                             const Options& options = {});

}  // namespace meshwright::checkpoint

#endif  // MESHWRIGHT_PLANNER_CHECKPOINT_SOLVE_H_
