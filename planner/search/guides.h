// Guides: what is still to come at the least, at a price of bytes.
//
// Concept: in a long block a label counts only steps that are no rounds of a
// loop (detours.h), so how many steps it has left is open: with the mean cost
// of the cheapest closed walk taken off every step, the cheapest walk of any
// length bounds what is to come. A label that has met no loop's first vertex
// must still do so, or make every step left without.
// In → Out: a line, a price, the loops of its blocks → costs that no plan
// beats. Units: picoseconds, those of priced bytes included.
#ifndef MESHWRIGHT_PLANNER_SEARCH_GUIDES_H_
#define MESHWRIGHT_PLANNER_SEARCH_GUIDES_H_

#include <cstdint>
#include <vector>

#include "planner/search/blocks.h"
#include "planner/search/loops.h"
#include "planner/search/until.h"

namespace meshwright::search {

struct Guide {
  Matrix step;  // arrival included, less the mean; of a long block
  Cost mean = 0;
  std::vector<bool> is_root;            // first vertex of a loop
  std::vector<Cost> exit;               // after the last copy
  std::vector<Cost> visited;            // a loop was met
  std::vector<Cost> unvisited;          // none was, one will be
  std::vector<std::vector<Cost>> none;  // by steps left: none will be
  std::vector<Cost> entry;  // from the block's first copy on, its own cost not
                            // included

  // What is left at the least for a label at `v` with at most `left` steps.
  Cost Left(int v, bool is_visited, int64_t left) const {
    if (is_visited) return visited[v];
    return std::min(unvisited[v], none[left][v]);
  }
};

// A long block of a line, at a price of the room.
struct LongBlock {
  const Line& line;
  const size_t at;
  const std::vector<Loop>& loops;    // the block's
  const std::vector<Guide>& guides;  // of all blocks
  const int64_t price;
  const int64_t room;

  const Block& block() const { return line[at]; }
  const Guide& guide() const { return guides[at]; }
};

// Stopped, they are of no use.
std::vector<Guide> MakeGuides(const Line& line,
                              const std::vector<std::vector<Loop>>& loops,
                              int64_t price, const Until& until);

// The least priced time with which each vertex of the block is reached, in any
// number of steps; as labels count it, the mean taken off.
std::vector<Cost> ReachedOf(const LongBlock& where);

// Time plus priced bytes of a vertex.
inline Cost PricedTime(const Block& block, int v, int64_t price) {
  return Clamp(block.time[v] + PriceOf(price, block.bytes[v]));
}

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_GUIDES_H_
