// RunCopies: what the inner copies of a run take once both its ends are known.
//
// Concept: of the best walks between the two, the lexicographically smallest
// (run.h). Answers are remembered.
// Threads and ownership: borrows the graph, the costs and the powers.
#ifndef MESHWRIGHT_PLANNER_SEARCH_INNER_COPIES_H_
#define MESHWRIGHT_PLANNER_SEARCH_INNER_COPIES_H_

#include <map>
#include <tuple>
#include <vector>

#include "planner/search/graph.h"
#include "planner/search/run.h"

namespace meshwright::search {

class RunCopies {
 public:
  RunCopies(const Graph& graph, const Costs& costs, PowersCache& powers)
      : graph_(graph), costs_(costs), powers_(powers) {}

  // `join` is a run of the graph; `from` and `to` are configurations.
  const std::vector<int>& Between(int join, int from, int to);

 private:
  const Graph& graph_;
  const Costs& costs_;
  PowersCache& powers_;
  std::map<std::tuple<int, int, int>, std::vector<int>> known_;
};

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_INNER_COPIES_H_
