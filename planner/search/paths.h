// Decompose: a graph as paths, once a few variables are held.
//
// Concept: a chain is solved exactly by dynamic programming; other edges (tied
// embeddings, an encoder read by every decoder layer) are not on a path. When
// one end of such an edge is *held* at a configuration, its table is a plain
// cost of the other end. So each connected component names the variables to
// hold, as few combinations as a branching search finds, such that what is
// left are paths; the solver tries every combination of the held ones.
//
//        ┌────────── held ──────────┐            a skip edge: hold `0`,
//        0 ── 1 ── 2 ── ... ── n ───┘            the rest is a path
//
// Consecutive equal slots joined by one matrix become one item of many copies.
// Errors: kUnimplemented when a component needs more than kMostCombinations.
#ifndef MESHWRIGHT_PLANNER_SEARCH_PATHS_H_
#define MESHWRIGHT_PLANNER_SEARCH_PATHS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/search/graph.h"

namespace meshwright::search {

inline constexpr int64_t kMostCombinations = 100'000;

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
  std::optional<int> variable;     // held, or the far end of a held edge
};

struct Path {
  std::vector<Item> items;
  bool in_order = true;     // slots ascend: greedy choices are lexicographic
  bool is_touched = false;  // some item has a variable
};

struct Component {
  std::vector<int> held;     // variables
  int64_t combinations = 1;  // of their configurations
  std::vector<int> cut;      // joins with a held end, no longer on a path
  std::vector<Path> paths;
};

absl::StatusOr<std::vector<Component>> Decompose(const Graph& graph);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_PATHS_H_
