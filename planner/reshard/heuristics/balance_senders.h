// BalanceSenders: one sender per job, so that the fullest sender has little to
// send. It starts longest first, then moves and swaps jobs from the fullest.
// Out: per job, which of its choices. Deterministic, unless a deadline ends it.
// At most `max_tries` moves and swaps are tried.
#ifndef MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_BALANCE_SENDERS_H_
#define MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_BALANCE_SENDERS_H_

#include <cstdint>
#include <vector>

#include "base/deadline.h"
#include "planner/reshard/problem/instance.h"

namespace meshwright::reshard {

// Some hundred milliseconds.
inline constexpr int64_t kMaxBalanceTries = 100'000'000;

std::vector<int> BalanceSenders(const Instance& instance, Ticks bound,
                                const base::Deadline& deadline,
                                int64_t max_tries = kMaxBalanceTries);

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_HEURISTICS_BALANCE_SENDERS_H_
