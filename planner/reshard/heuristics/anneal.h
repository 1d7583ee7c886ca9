// Anneal: local search over senders and over the order of importance.
//
// Concept: a state is an order of importance and a sender per job; EventClock
// turns it into a schedule. Jobs that end after the bound are moved to the
// front, others swap or change sender; what does not get worse is kept, what
// gets a little worse at times, ever more rarely. The cost of a state is by how
// much jobs end after the bound, the last one above all.
// Deterministic for a seed and a number of steps. Ends at the bound.
#ifndef MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_ANNEAL_H_
#define MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_ANNEAL_H_

#include <cstdint>

#include "planner/problem/interrupt.h"
#include "planner/reshard/problem/instance.h"

namespace meshwright::reshard {

struct Annealing {
  uint64_t seed = 1;
  int64_t steps = 0;
  Ticks bound = 0;
};

// Starts from `order`; the answer is no worse.
Order Anneal(const Instance& instance, const Order& order,
             const Annealing& annealing, const problem::Interrupt& interrupt);

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_ANNEAL_H_
