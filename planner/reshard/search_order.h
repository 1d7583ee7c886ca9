// SearchOrder: our own solver on one instance.
//
// Concept: bounds first; then ever dearer ways to a schedule at the bound, and
// last the proof. Each step is left out once the bound is met:
//   1. fullest ports first into the earliest gaps, balanced senders;
//   2. the largest jobs first, each where it is in the way least;
//   3. from there, jobs taken out and put back (Reinsert);
//   4. the exact balance of senders as a bound; branch and bound;
//   5. the paper's solvers, so that none of them is ever better.
// Where a port has several links, 2 is event-driven list schedules, the first
// exact in its urgencies, and 3 annealing from the best of them, then
// justification.
// Deterministic for a seed unless a deadline cuts it short; given one, it goes
// on with 3 until then.
#ifndef MESHWRIGHT_PLANNER_RESHARD_SEARCH_ORDER_H_
#define MESHWRIGHT_PLANNER_RESHARD_SEARCH_ORDER_H_

#include <cstdint>
#include <string>

#include "planner/problem/interrupt.h"
#include "planner/reshard/problem/instance.h"

namespace meshwright::reshard {

struct Found {
  Order order;
  Ticks makespan = 0;
  Ticks lower_bound = 0;
  std::string solver;  // what made the order
};

// A lower bound without search.
Ticks QuickBound(const Instance& instance, const problem::Interrupt& interrupt);

Found SearchOrder(const Instance& instance, uint64_t seed,
                  const problem::Interrupt& interrupt);

// How much the paper's searches are given, everywhere.
inline constexpr int64_t kDepthFirstNodes = 100'000;
inline constexpr int kRandomizedDraws = 64;

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_SEARCH_ORDER_H_
