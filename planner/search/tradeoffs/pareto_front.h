// FindFront: time against memory, the plans that no other beats in both.
//
// Concept: a search within a limit L gives a plan of peak p <= L and a bound:
// no plan within L is faster. So between p and L the front is known. The ends
// come first, the fastest plan and that of minimum memory. Then the limit is
// set where the front is known worst, between two points whose rectangle is
// largest. That ends when there are as many points as asked, or every limit is
// known.
//
//   seconds  *...            * plan, . the limits it is the answer to
//              ?  *.....     ? between: no faster than the next plan's bound
//                       *..
//             bytes
//
// In → Out: a valid problem, points → points of rising memory; fewer when there
// are fewer, when the deadline came, or when a later search had no answer.
// Errors: kInvalidArgument for a number of points out of range; those of Solve
// for the fastest plan.
#ifndef MESHWRIGHT_PLANNER_SEARCH_TRADEOFFS_PARETO_FRONT_H_
#define MESHWRIGHT_PLANNER_SEARCH_TRADEOFFS_PARETO_FRONT_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/search/search.h"

namespace meshwright::search {

struct FrontPoint {
  Plan plan;
  problem::Picoseconds lower_bound{0};  // of every plan within limit_bytes
  // At least the plan's peak; INT64_MAX: more memory gives no faster plan.
  int64_t limit_bytes = 0;
};

struct MemoryFront {
  std::vector<FrontPoint> points;
  bool is_complete = false;                   // no other plan is on the front
  std::optional<int64_t> least_memory_bytes;  // empty: not known
  std::chrono::duration<double> elapsed{0};
};

absl::StatusOr<MemoryFront> FindFront(const problem::PlanProblem& problem,
                                      int64_t points,
                                      const Options& options = {});

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_TRADEOFFS_PARETO_FRONT_H_
