// Graph: a PlanProblem as variables and pairwise links.
//
// Concept: a decision that the plan lists is a *slot*, in file order; a tied
// node is one slot. A *variable* is a slot that an edge can touch: the first
// and the last copy of a node. The copies between them are a *run*, kept as
// one join of its two variables.
//
//   node of 5 copies:   first ──run of 3──▶ last ──edge──▶ first of the next
//
// Unary kinds: slots with equal type, equal allowed configurations and (when
// tied) equal repeat share one vector of costs. That lets equal neighbours be
// folded.
#ifndef MESHWRIGHT_PLANNER_SEARCH_GRAPH_GRAPH_H_
#define MESHWRIGHT_PLANNER_SEARCH_GRAPH_GRAPH_H_

#include <cstdint>
#include <vector>

#include "planner/problem/plan_problem.h"
#include "planner/search/graph/costs.h"

namespace meshwright::search {

struct UnaryKind {
  std::vector<Cost> time;          // kNever: not allowed here
  std::vector<int64_t> bytes;      // persistent + saved, over all tied copies
  std::vector<int64_t> transient;  // bytes
  int allowed = 0;                 // configurations with a finite time
};

struct Variable {
  int unary = 0;
  int64_t slot = 0;
};

struct Join {
  int from = 0;  // variables
  int to = 0;
  int matrix = 0;
  bool is_run = false;
  int64_t between = 0;  // copies of a run strictly between the two
};

struct Graph {
  std::vector<UnaryKind> unaries;
  std::vector<Variable> variables;
  std::vector<Join> joins;
  Matrices matrices;  // picoseconds
  std::vector<int> node_unary;
  std::vector<int64_t> first_slot;  // per node, and the number of slots

  const Matrix& matrix(int number) const { return matrices->all[number]; }
};

// `problem` is valid. Parallel edges are added up into one join.
Graph BuildGraph(const problem::PlanProblem& problem);

// Costs of time alone.
Costs TimeCosts(const Graph& graph);

problem::Choice ToChoice(const problem::PlanProblem& problem,
                         const Graph& graph, const std::vector<int>& slots);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_GRAPH_GRAPH_H_
