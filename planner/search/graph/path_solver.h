// PathSolver: the cheapest choice along one path.
//
// Concept: backward dynamic programming with runs folded (run.h). Of equal
// costs the smallest configuration is taken, from the first copy on. In → Out:
// a path and costs → the least cost, and on request the configuration per slot.
// Threads and ownership: borrows everything it is given.
#ifndef MESHWRIGHT_PLANNER_SEARCH_GRAPH_PATH_SOLVER_H_
#define MESHWRIGHT_PLANNER_SEARCH_GRAPH_PATH_SOLVER_H_

#include <vector>

#include "planner/search/graph/paths.h"
#include "planner/search/graph/run.h"

namespace meshwright::search {

class PathSolver {
 public:
  PathSolver(const Path& path, const Costs& costs, PowersCache& powers);

  Cost cost() const { return cost_; }  // kNever: every choice is forbidden

  // Writes the path's slots.
  void Choose(std::vector<int>& slots) const;

 private:
  MatrixView MakeLink(const MatrixUse& use) const;

  const Path& path_;
  const Costs& costs_;
  Cost cost_ = kNever;
  std::vector<Run> runs_;  // one per item, last item first
};

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_GRAPH_PATH_SOLVER_H_
