// Leftover: what is to come at the least, given the bytes that no rounds fill.
//
// Concept: rounds of a long block's loops fill up the copies that detours leave
// (detours.h). Whatever their two counts are, the steps are given, so the bytes
// they take are known but for a multiple of a modulus: some rounds more of one
// loop for rounds of the other. With the bytes so far, the room left over at
// the end is therefore known but for that multiple, and only further detours
// change it. Room left over costs its price. The least cost to the end is a
// shortest walk over vertices and leftovers; leftovers are counted in cells,
// and what a cell rounds off is paid back, so that no plan costs less.
//
//   leftover  0 ├──┼──┼──┼──┼──┤ modulus       a round of a loop: no change
//
// In → Out: a line, its loops and guides, price, room, the most that matters →
// a bound for a vertex, bytes and steps left.
// Shapes: a cost by vertex of the block and cell.
// Threads and ownership: borrows nothing once made.
// Source: Gomory, Some polyhedra related to combinatorial problems (1969): the
// group problem, here along walks.
#ifndef MESHWRIGHT_PLANNER_SEARCH_LEFTOVER_H_
#define MESHWRIGHT_PLANNER_SEARCH_LEFTOVER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/search/blocks.h"
#include "planner/search/guides.h"
#include "planner/search/loops.h"
#include "planner/search/residues.h"
#include "planner/search/until.h"

namespace meshwright::search {

class Leftover {
 public:
  // Of a long block with one loop or two. Plans whose priced time exceeds
  // `most` may be left out. Empty where nothing is gained: another long block
  // follows, two loops take the same bytes a step, or costs settle slowly; or
  // stopped.
  static std::optional<Leftover> Make(const LongBlock& where, Cost most,
                                      int64_t cells, const Until& until);

  // Priced time from a copy at `v` to the end of the line, that of the room
  // left over included; `bytes` are those so far, with `left` steps to go in
  // the block.
  Cost Least(int v, int64_t bytes, int64_t left) const {
    int64_t at = (residues_.unit * (room_ - bytes) - left * residues_.a_step -
                  offset_[v]) %
                 residues_.modulus;
    if (at < 0) at += residues_.modulus;
    // The cell that begins there or next; a product for a division.
    auto cell = static_cast<int64_t>(static_cast<double>(at) * per_width_);
    int64_t back = cell * width_ - at;
    while (back < 0) back += width_, ++cell;
    while (back >= width_) back -= width_, --cell;
    return base_ + least_[v][cell == count_ ? 0 : cell] * unit_cost_ -
           BackOf(back);
  }

 private:
  // By how many cells a walk moves down, and what rounding that off pays back.
  struct Shift {
    int64_t cells = 0;
    Cost back = 0;
  };
  struct Arc {
    int from = 0;
    int to = 0;
    Cost cost = 0;
    Cost least = 0;  // more than the cheapest walk
    Shift shift;
  };
  using Cells = std::vector<int32_t>;  // in units of cost, above base_

  static constexpr int kRateShift = 10;

  Leftover() = default;

  bool SetCells(const Block& block, const std::vector<Loop>& loops,
                int64_t cells);
  std::vector<Arc> UsefulArcs(const Block& block, const Guide& guide,
                              const std::vector<Cost>& reached,
                              Cost most) const;
  // The price of leftover, rounded up.
  Cost BackOf(int64_t amount) const {
    return (amount * rate_ >> kRateShift) + 1;
  }
  Shift ShiftOf(__int128 amount) const;
  int32_t Units(Cost cost) const;
  void PlaceVertices(const Block& block, const std::vector<Loop>& loops,
                     std::vector<Arc>& arcs);
  bool Lower(Cost cost, const Shift& shift, const Cells& after, int32_t floor,
             Cells& cells) const;
  std::vector<Cells> AfterBlock(const LongBlock& where) const;
  bool Settle(const std::vector<Arc>& arcs, int64_t most_passes,
              const Until& until);

  int64_t price_ = 0;
  int64_t room_ = 0;
  Residues residues_;  // in whose unit all below is
  int64_t width_ = 1;  // of a cell
  double per_width_ = 1;
  int64_t count_ = 0;  // of cells; the last may be too wide by over_
  int64_t over_ = 0;
  int64_t rate_ = 0;  // price of one, with kRateShift bits after the point
  std::vector<int64_t> step_;    // by vertex: what a step to it takes
  std::vector<int64_t> offset_;  // by vertex: leftovers are counted from here
  Cost base_ = 0;
  Cost unit_cost_ = 1;          // costs are counted in these, rounded down
  std::vector<int32_t> floor_;  // by vertex: no walk to the end costs less
  std::vector<Cells> least_;    // by vertex
};

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_LEFTOVER_H_
