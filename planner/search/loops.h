// Loops: what the copies of a long block go round in a plan.
//
// Concept: a plan's walk through a block, taken apart, is a walk that meets no
// vertex twice and closed walks. The closed walk that covers most copies is
// what the block goes round. A price at its best leaves two plans, one too
// large and one that fits, which go round two loops; plans in between mix them.
// In → Out: a block and walks through it → loops, that meet in their first
// vertex or nowhere.
#ifndef MESHWRIGHT_PLANNER_SEARCH_LOOPS_H_
#define MESHWRIGHT_PLANNER_SEARCH_LOOPS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "planner/search/blocks.h"
#include "planner/search/least_mean.h"

namespace meshwright::search {

struct Loop {
  Closed vertices;
  Cost time = 0;  // of one time round
  int64_t bytes = 0;

  int64_t length() const { return static_cast<int64_t>(vertices.size()); }
};

// Vertex by copy.
using Walk = std::vector<int>;

// At most two: the one that most of the first walk goes round, and another that
// most of the second does.
std::vector<Loop> LoopsOf(const Block& block, const Walk& first,
                          const Walk& second);

// How often to go round each loop.
struct Rounds {
  int64_t first = 0;
  int64_t second = 0;
};

// The fastest way to make `steps` steps of both loops within `room` bytes;
// empty if there is none.
std::optional<Rounds> Fill(const Loop& first, const Loop& second, int64_t steps,
                           int64_t room);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_LOOPS_H_
