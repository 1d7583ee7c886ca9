// Highs: one run of the HiGHS solver.
//
// Concept: owns a solver of the C library for as long as a program is solved.
// One thread, a fixed seed: without a stop the same program gets the same
// answer. Gaps are closed to `absolute_gap`, not to a part of the objective;
// tolerances are near the least the solver takes.
// In → Out: a linear program, optionally a solution to start from → what the
// solver says, in floating point.
// Errors: kInternal when the solver refuses the program or fails.
// Threads: each run by itself; any number at once.
#ifndef MESHWRIGHT_PLANNER_ILP_HIGHS_H_
#define MESHWRIGHT_PLANNER_ILP_HIGHS_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/ilp/linear.h"

namespace meshwright::ilp {

// Integers are integers, and rows hold, up to this much.
inline constexpr double kTolerance = 1e-9;

struct HighsOptions {
  std::optional<double> seconds;  // that it may run
  std::function<bool()> is_over;  // true: stop now; may be empty
  int64_t most_nodes = std::numeric_limits<int64_t>::max();
  double absolute_gap = 0;
  std::vector<double> start;  // by column; empty: none
};

struct HighsAnswer {
  bool is_finished = false;  // else it was stopped
  bool is_infeasible = false;
  std::optional<std::vector<double>> values;  // of the best solution
  double bound = -std::numeric_limits<double>::infinity();
};

absl::StatusOr<HighsAnswer> RunHighs(const Linear& linear,
                                     const HighsOptions& options);

}  // namespace meshwright::ilp

#endif  // MESHWRIGHT_PLANNER_ILP_HIGHS_H_
