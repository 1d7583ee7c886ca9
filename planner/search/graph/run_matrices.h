// RunMatrices: the joins of a component, each as one matrix.
//
// Concept: the matrix of a run holds the minimum cost from the first to the
// last copy, without the costs of those two. Any other join has its own matrix.
// Each matrix is made once. Once both ends are chosen, Between reads off the
// copies.
// Threads and ownership: borrows the graph, the costs and the powers; what it
// gives lives as long as it.
#ifndef MESHWRIGHT_PLANNER_SEARCH_GRAPH_RUN_MATRICES_H_
#define MESHWRIGHT_PLANNER_SEARCH_GRAPH_RUN_MATRICES_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "planner/search/graph/graph.h"
#include "planner/search/graph/run.h"

namespace meshwright::search {

class RunMatrices {
 public:
  RunMatrices(const Graph& graph, const Costs& costs, PowersCache& powers)
      : graph_(graph), costs_(costs), powers_(powers) {}

  // Made at the first call; valid as long as this object.
  const Matrix& FindMatrix(const Join& join);

  // The configurations of a run's inner copies on a best walk from `from` to
  // `to`; empty where the join has none.
  std::vector<int> Between(const Join& join, int from, int to);

 private:
  const Graph& graph_;
  const Costs& costs_;
  PowersCache& powers_;
  // By matrix, unary kind and copies between.
  std::map<std::tuple<int, int, int64_t>, Matrix> runs_;
};

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_GRAPH_RUN_MATRICES_H_
