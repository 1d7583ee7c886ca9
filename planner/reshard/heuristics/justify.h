// Justify: local search over schedules that are pushed to either end in turn.
//
// Concept: a list of jobs becomes a schedule by giving each, in the list's
// order, the earliest gap that all its ports share, so that a job may wait for
// its ports while shorter ones could start (Timelines). Built again from the
// other end of time, latest end first, and once more from this one, it is never
// longer and mostly shorter. A state is such a schedule; a move takes one to
// three jobs to other places of the list, or to other senders. The cost is by
// how much jobs end after the bound, as in Anneal, which starts whatever can
// start: that is better where a task has few receivers, this where many.
// Deterministic for a seed and a number of steps. Ends at the bound.
// Source: double justification (Valls, Ballestin, Quintanilla 2005), there for
// project schedules; ports are resources of which all figures hold both ways.
#ifndef MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_JUSTIFY_H_
#define MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_JUSTIFY_H_

#include "planner/problem/interrupt.h"
#include "planner/reshard/heuristics/anneal.h"
#include "planner/reshard/problem/instance.h"

namespace meshwright::reshard {

// Starts from `order`; the answer is no worse.
Order Justify(const Instance& instance, const Order& order,
              const Annealing& annealing, const problem::Interrupt& interrupt);

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_JUSTIFY_H_
