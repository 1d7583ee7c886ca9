// SearchOrder: our own solver on one instance.
//
// Concept: bounds first, then ever more expensive ways to a schedule at the
// bound, and last the proof. Each step is left out once the bound is met:
//   1. fullest ports first into the earliest gaps, balanced senders;
//   2. the largest jobs first, each where it delays others least;
//   3. from there, large neighbourhood search (Reinsert);
//   4. the exact balance of senders as a bound; branch and bound;
//   5. the paper's solvers, so that none of them is ever better.
// Deterministic for a seed unless a deadline cuts it short; given one, it goes
// on with 3 until then.
// Threads: pure.
#ifndef MESHWRIGHT_PLANNER_RESHARD_SEARCH_ORDER_H_
#define MESHWRIGHT_PLANNER_RESHARD_SEARCH_ORDER_H_

#include <cstdint>
#include <string>

#include "base/deadline.h"
#include "planner/reshard/problem/instance.h"

namespace meshwright::reshard {

struct Found {
  Order order;
  Ticks makespan = 0;
  Ticks lower_bound = 0;
  std::string solver;  // what made the order
};

// A lower bound without search.
Ticks ComputeQuickBound(const Instance& instance,
                        const base::Deadline& deadline);

Found SearchOrder(const Instance& instance, uint64_t seed,
                  const base::Deadline& deadline);

// How much the paper's searches are given, everywhere.
inline constexpr int64_t kDepthFirstNodes = 100'000;
inline constexpr int kRandomizedDraws = 64;

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_SEARCH_ORDER_H_
