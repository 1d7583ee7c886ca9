// RunMatrices: the joins of a component, each as one matrix.
//
// Concept: of a run it is the least cost from the first to the last copy,
// without the costs of those two; of any other join, its own. Made once.
// Threads and ownership: borrows the graph, the costs and the powers; what it
// gives lives as long as it.
#ifndef MESHWRIGHT_PLANNER_SEARCH_RUN_MATRICES_H_
#define MESHWRIGHT_PLANNER_SEARCH_RUN_MATRICES_H_

#include <cstdint>
#include <map>
#include <tuple>

#include "planner/search/graph.h"
#include "planner/search/run.h"

namespace meshwright::search {

class RunMatrices {
 public:
  RunMatrices(const Graph& graph, const Costs& costs, PowersCache& powers)
      : graph_(graph), costs_(costs), powers_(powers) {}

  const Matrix& Of(const Join& join);

 private:
  const Graph& graph_;
  const Costs& costs_;
  PowersCache& powers_;
  // By matrix, unary kind and copies between.
  std::map<std::tuple<int, int, int64_t>, Matrix> runs_;
};

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_RUN_MATRICES_H_
