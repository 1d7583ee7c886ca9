// PathSolver: the cheapest, then smallest, choice along one path.
//
// In → Out: a path and costs → the least cost, and on request the
// configuration per slot.
// Concept: backward dynamic programming with runs folded (run.h) when slots
// ascend along the path. Otherwise the path is walked copy by copy, and equal
// costs are settled by comparing the two plans in slot order.
// Threads and ownership: borrows everything it is given.
#ifndef MESHWRIGHT_PLANNER_SEARCH_PATH_SOLVER_H_
#define MESHWRIGHT_PLANNER_SEARCH_PATH_SOLVER_H_

#include <vector>

#include "planner/search/paths.h"
#include "planner/search/run.h"

namespace meshwright::search {

class PathSolver {
 public:
  PathSolver(const Path& path, const Costs& costs, PowersCache& powers);

  Cost cost() const { return cost_; }  // kNever: every choice is forbidden

  // Writes the path's slots.
  void Choose(std::vector<int>& slots) const;

 private:
  struct Place {  // one copy, out of order
    const Item* item;
    int64_t slot;
    std::vector<Cost> value;
    std::vector<int> next;  // best configuration of the place after
  };

  Link LinkOf(const MatrixUse& use) const;
  void SolveInOrder();
  void SolveByPlaces();
  Place MakePlace(const Item& item, int64_t slot) const;
  void Join(Place& place, const MatrixUse& use, size_t after) const;
  bool IsSmaller(size_t place, int a, int b) const;

  const Path& path_;
  const Costs& costs_;
  PowersCache& powers_;
  Cost cost_ = kNever;
  std::vector<Run> runs_;      // in order: one per item, last item first
  std::vector<Place> places_;  // by places: last copy first
};

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_PATH_SOLVER_H_
