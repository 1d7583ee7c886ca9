// Settle: a graph that is no line, as several that are.
//
// Concept: with one variable settled at a configuration, its joins are costs of
// its neighbours alone, and the cycles through it are gone. What many copies
// read, or what the first and the last share, is often such a variable; then
// every configuration of it leaves a line (blocks.h).
//
//   embedding ── layers ── head             layers ── head
//       └───────────────────┘        for every configuration of the embedding
//
// In → Out: a graph → the variables to settle; a graph, a variable, a
// configuration → the graph that is left, of the same slots.
// Source: cutset conditioning (Dechter 1990).
#ifndef MESHWRIGHT_PLANNER_SEARCH_SETTLE_H_
#define MESHWRIGHT_PLANNER_SEARCH_SETTLE_H_

#include <cstdint>
#include <vector>

#include "planner/search/paths.h"

namespace meshwright::search {

// Variables of no run without which all components are paths, and that take at
// most `most_settings` configurations together; empty if none are found, or
// nothing needs to be settled.
std::vector<int> VariablesToSettle(const Graph& graph,
                                   const std::vector<Component>& components,
                                   int64_t most_settings);

// `variable` is of no run. It keeps one configuration, and no joins; its slot
// and all others stay.
Graph Settle(const Graph& graph, int variable, int config);

// All of them, at every configuration that is allowed.
std::vector<Graph> SettleAll(const Graph& graph,
                             const std::vector<int>& variables);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_SETTLE_H_
