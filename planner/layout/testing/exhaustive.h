// Exhaustive: the cheapest conversion by trying everything; the oracle.
//
// Concept: every spec of the mesh is made, and the tile of every device in it.
// A pair of specs is one step if the tiles say so: nothing here knows of roles,
// strides or rules of divisibility. A permute may cross any set of axes within
// whose groups the tiles before and after are the same ones; the cheapest such
// set counts. Dijkstra from the target, then the smallest specs forward.
// Shares with the search only the types of the problem.
#ifndef MESHWRIGHT_PLANNER_LAYOUT_TESTING_EXHAUSTIVE_H_
#define MESHWRIGHT_PLANNER_LAYOUT_TESTING_EXHAUSTIVE_H_

#include <optional>
#include <vector>

#include "planner/layout/layout_problem.h"

namespace meshwright::layout {

struct ExhaustivePath {
  int64_t time = 0;  // picoseconds
  std::vector<Spec> specs;
};

// alpha and beta are those of the problem's links.
std::optional<ExhaustivePath> SolveExhaustively(
    const LayoutProblem& problem, const std::vector<double>& alpha,
    const std::vector<double>& beta);

}  // namespace meshwright::layout

#endif  // MESHWRIGHT_PLANNER_LAYOUT_TESTING_EXHAUSTIVE_H_
