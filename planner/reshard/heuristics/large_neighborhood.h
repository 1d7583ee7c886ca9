// Reinsert: large neighbourhood search; jobs are taken out of a schedule and
// each is put back where the longest chain through it is least (Places).
//
// Concept: a first schedule takes jobs in by falling area, ports times ticks;
// where tasks are many that alone is at the bound or near. Then a step takes
// out a job of a longest chain and up to eleven that end next to it, and puts
// them back, the largest first. What gets no longer is kept, what gets a little
// longer at times, ever more rarely; how much longer is drawn before, so that
// a step ends at the first job that does not fit.
// Deterministic for a seed and a number of steps. Ends at the bound.
// Source: insertion by heads and tails is known of job shops (Werner, Winkler
// 1995), ruin and recreate from Schrimpf et al. 2000; a job here is on several
// ports at once, of which both hold.
#ifndef MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_LARGE_NEIGHBORHOOD_H_
#define MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_LARGE_NEIGHBORHOOD_H_

#include <cstdint>

#include "planner/problem/interrupt.h"
#include "planner/reshard/heuristics/anneal.h"
#include "planner/reshard/problem/instance.h"

namespace meshwright::reshard {

// The first schedule. Ports of `instance` have one link each, here and below.
// Once interrupted, jobs that are left follow as they come.
Order LargestFirst(const Instance& instance, uint64_t seed,
                   const problem::Interrupt& interrupt);

// Starts from `order`; the answer is no worse.
Order Reinsert(const Instance& instance, const Order& order,
               const Annealing& annealing, const problem::Interrupt& interrupt);

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_LARGE_NEIGHBORHOOD_H_
