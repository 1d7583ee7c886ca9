// Highs: one run of the HiGHS solver.
//
// Concept: owns a solver of the C library for as long as a program is solved.
// One thread, a fixed seed: without a stop the same program gets the same
// answer. The deadline is asked in branch and bound only, not while the program
// is presolved nor in its first linear program: RunHighsInChild keeps it. Gaps
// are closed to `absolute_gap`, not to a part of the objective; tolerances are
// near the least the solver takes. In → Out: a linear program, optionally a
// solution to start from → what the solver says, in floating point. Errors:
// kInternal when the solver refuses the program or fails. Threads: each run by
// itself; any number at once.
#ifndef MESHWRIGHT_PLANNER_ILP_HIGHS_H_
#define MESHWRIGHT_PLANNER_ILP_HIGHS_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "base/deadline.h"
#include "planner/ilp/linearization.h"

namespace meshwright::ilp {

// Integers are integers, and rows hold, up to this much.
inline constexpr double kTolerance = 1e-9;

struct HighsOptions {
  base::Deadline deadline;
  std::function<bool()> is_stopped;  // beside the deadline; may be empty
  int64_t max_nodes = std::numeric_limits<int64_t>::max();
  double absolute_gap = 0;
  std::vector<double> start;  // by column; empty: none
};

struct HighsAnswer {
  bool is_finished = false;  // else it was stopped
  bool is_infeasible = false;
  std::optional<std::vector<double>> values;  // of the best solution
  double bound = -std::numeric_limits<double>::infinity();
};

absl::StatusOr<HighsAnswer> RunHighs(const Linearization& linear,
                                     const HighsOptions& options);

}  // namespace meshwright::ilp

#endif  // MESHWRIGHT_PLANNER_ILP_HIGHS_H_
