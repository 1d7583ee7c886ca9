// Blocks: a problem whose components are paths, as one line of blocks.
//
// Concept: consecutive equal copies with equal tables between them are a block;
// what follows another block without a join is joined to it for nothing. Blocks
// of fewer than kLong copies are taken apart into blocks of one.
//
//   embedding ── layer x 96 ── head
//
// A *vertex* of a block is an index into its configurations.
// Units: picoseconds, bytes.
// Threads and ownership: a value; nothing here points anywhere.
#ifndef MESHWRIGHT_PLANNER_SEARCH_BLOCKS_H_
#define MESHWRIGHT_PLANNER_SEARCH_BLOCKS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/search/costs.h"
#include "planner/search/graph.h"
#include "planner/search/paths.h"

namespace meshwright::search {

inline constexpr int64_t kLong = 20;

struct Block {
  int64_t copies = 1;
  int64_t first_slot = 0;
  int step = 1;              // from a copy's slot to that of the next
  std::vector<int> configs;  // by vertex, rising; all with a finite time
  std::vector<Cost> time;
  std::vector<int64_t> bytes;
  std::vector<int64_t> transient;
  Matrix inner;  // between copies, where there are several
  Matrix next;   // to the next block, where there is one

  int size() const { return static_cast<int>(configs.size()); }
  int64_t slot(int64_t copy) const { return first_slot + step * copy; }
};

using Line = std::vector<Block>;

// Empty if a component is no path, or no block is long.
std::optional<Line> ToLine(const Graph& graph,
                           const std::vector<Component>& components);

// The vertices listed, by block, rising.
Line Kept(const Line& line, const std::vector<std::vector<int>>& kept);

// Without the vertices of a transient above `most`.
Line Capped(const Line& line, int64_t most);

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_BLOCKS_H_
