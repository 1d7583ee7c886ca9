// Model: what is left to decide, as variables with domains and joins.
//
// Concept: a graph's slots, or the variables of one of its components, become
// variables whose domain lists only the configurations still worth trying. A
// *value* is an index into a domain. Joins are matrices over the values of two
// variables. Equal domains and equal matrices are stored once.
// Units: picoseconds, bytes.
// Threads and ownership: a value; nothing here points anywhere.
#ifndef MESHWRIGHT_PLANNER_SEARCH_GRAPH_MODEL_H_
#define MESHWRIGHT_PLANNER_SEARCH_GRAPH_MODEL_H_

#include <cstdint>
#include <vector>

#include "planner/search/graph/graph.h"
#include "planner/search/graph/run_matrices.h"

namespace meshwright::search {

struct Domain {
  std::vector<int> configs;  // rising
  std::vector<Cost> time;
  std::vector<int64_t> bytes;
  std::vector<int64_t> transient;

  int size() const { return static_cast<int>(configs.size()); }
};

struct Model {
  struct Variable {
    int domain = 0;
    int64_t slot = 0;
  };
  struct Join {  // rows are values of `a`, columns of `b`
    int a = 0;
    int b = 0;
    int matrix = 0;
    bool is_run = false;  // minimised over copies between the two
  };
  // Such a join, also after it was absorbed.
  struct Hidden {
    int a = 0;
    int b = 0;
    int join = 0;  // of the graph
  };

  Cost base = 0;
  std::vector<Domain> domains;
  std::vector<Variable> variables;
  std::vector<Join> joins;
  std::vector<Matrix> matrices;
  std::vector<Hidden> hidden;

  const Domain& domain(int v) const { return domains[variables[v].domain]; }
  int size(int v) const { return domain(v).size(); }
  bool IsPossible() const;  // no domain is empty
};

// joins_of[v]: the joins of variable v, rising.
std::vector<std::vector<int>> FindJoins(const Model& model);

// Of the matrices of all joins, were each to have its own.
int64_t CountJoinEntries(const Model& model);

// Whether the joins make no cycle.
bool IsForest(const Model& model);

// The values that hold these configurations, by variable; empty if one is gone.
std::vector<int> FindValues(const Model& model,
                            const std::vector<int>& configs);

// The component of `variables`, runs minimised over their inner copies.
// `costs` is what is to be minimised; memory is left out.
Model ComponentModel(const Graph& graph, const std::vector<int>& variables,
                     const std::vector<int>& joins, const Costs& costs,
                     RunMatrices& matrices);

// Every slot of the graph; variable s is slot s.
Model LaidOutModel(const Graph& graph);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_GRAPH_MODEL_H_
