// SweepTwoStage: sharding first, checkpoints second, over budgets for the
// first.
//
// Concept: given the device's budget M, an intra-op solver would fill it and
// leave nothing to checkpoint. So it is asked for the best plan within M (1 +
// a)^n for n from 0 on. Each plan's chain is checkpointed within M itself, and
// the fastest whole counts. Larger budgets buy faster shardings that need more
// recompute. In → Out: a budget and a callback → every attempt and the best of
// them. The lower_bound of the best is that of its own chain, not of the sweep.
// Ties: the smallest n. A plan met before is not solved again.
// Threads and ownership: the callback is called in order, on this thread.
// Errors: those of the callback and of Solve. kInvalidArgument for a budget or
// an expansion that is not positive, or a number of budgets outside [1, 64].
// Source: papers/map_colossal_auto.txt 5.3 (n from 0 to 9).
#ifndef MESHWRIGHT_PLANNER_CHECKPOINT_TESTING_TWO_STAGE_H_
#define MESHWRIGHT_PLANNER_CHECKPOINT_TESTING_TWO_STAGE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/checkpoint/chain.h"
#include "planner/checkpoint/solve.h"

namespace meshwright::checkpoint {

struct IntraOpPlan {
  int64_t id = 0;  // the caller's name for it; equal ids are equal plans
  Chain chain;
  int64_t persistent_bytes = 0;  // parameters, states: there all the time
};

// Empty: no sharding fits the budget.
using IntraOpSolver =
    std::function<absl::StatusOr<std::optional<IntraOpPlan>>(int64_t budget)>;

struct SweepOptions {
  double expansion = 0.5;  // a
  int budgets = 10;
  Options checkpoint;
};

struct Attempt {
  int64_t intra_op_budget_bytes = 0;
  std::optional<int64_t> plan_id;  // empty: no sharding fits
  // Peaks without the persistent bytes. Empty: no sharding, or its persistent
  // bytes alone fill the device.
  std::optional<Answer> answer;
};

struct Sweep {
  std::vector<Attempt> attempts;
  std::optional<int> best;  // the attempt; empty: none fits
};

absl::StatusOr<Sweep> SweepTwoStage(int64_t budget_bytes,
                                    const IntraOpSolver& intra_op,
                                    const SweepOptions& options = {});

}  // namespace meshwright::checkpoint

#endif  // MESHWRIGHT_PLANNER_CHECKPOINT_TESTING_TWO_STAGE_H_
