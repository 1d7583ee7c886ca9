// WorkBudget: how much work a search may do before it answers with a bound.
//
// Units: counts, so that the same problem gets the same answer on any machine.
#ifndef MESHWRIGHT_PLANNER_SEARCH_GRAPH_WORK_BUDGET_H_
#define MESHWRIGHT_PLANNER_SEARCH_GRAPH_WORK_BUDGET_H_

#include <cstdint>

namespace meshwright::search {

struct WorkBudget {
  int64_t table_entries = int64_t{1} << 27;  // 8 bytes each, kept together
  double table_steps = 4e9;                  // of one elimination
  double easy_steps = 2e7;                   // eliminated without more ado
  int64_t labels = 2'000'000;                // kept at once, 40 bytes each
  int64_t candidates = 40'000'000;           // labels looked at
  // Of those, before plans that are hardly faster are no longer sought.
  int64_t exact_candidates = 40'000;
};

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_GRAPH_WORK_BUDGET_H_
