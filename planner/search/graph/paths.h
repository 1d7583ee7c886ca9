// Decompose: a graph's connected components, and which of them are paths.
//
// Concept: a path is solved by dynamic programming with equal copies folded
// (path_solver.h); any other component by elimination (component.h).
//
//   0 ──▶ 1 ──run──▶ 1' ──▶ 2   a path of four variables
//
// Consecutive equal slots joined by one matrix become one item of many copies.
#ifndef MESHWRIGHT_PLANNER_SEARCH_GRAPH_PATHS_H_
#define MESHWRIGHT_PLANNER_SEARCH_GRAPH_PATHS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/search/graph/graph.h"

namespace meshwright::search {

struct MatrixUse {
  int matrix = 0;
  bool transposed = false;

  bool operator==(const MatrixUse&) const = default;
};

// `copies` equal slots, first_slot, first_slot + step, ...
struct Item {
  int unary = 0;
  int64_t first_slot = 0;
  int step = 1;
  int64_t copies = 1;
  std::optional<MatrixUse> inner;  // between copies; set when copies > 1
  std::optional<MatrixUse> next;   // to the next item of the path
};

struct Path {
  std::vector<Item> items;
};

struct Component {
  std::vector<int> variables;  // rising
  std::vector<int> joins;      // rising
  std::optional<Path> path;
};

std::vector<Component> Decompose(const Graph& graph);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_GRAPH_PATHS_H_
