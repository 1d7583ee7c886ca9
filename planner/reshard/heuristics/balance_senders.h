// BalanceSenders: one sender per job, so that the fullest sender has little to
// send. It starts longest first, then moves and swaps jobs from the fullest.
// Out: per job, which of its choices. Deterministic, unless a deadline ends it.
#ifndef MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_BALANCE_SENDERS_H_
#define MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_BALANCE_SENDERS_H_

#include <vector>

#include "base/deadline.h"
#include "planner/reshard/problem/instance.h"

namespace meshwright::reshard {

std::vector<int> BalanceSenders(const Instance& instance, Ticks bound,
                                const base::Deadline& deadline);

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_BALANCE_SENDERS_H_
