// Tails: how walks of a line's last long block may end.
//
// Concept: every step of a walk costs something more than the cheapest way to
// the end does, or nothing more. A walk may therefore be cut where about half
// of what it may cost more is spent: of pieces before and after the cut there
// are only as many as the root of the number of walks. The pieces after are the
// tails, made once from the end; labels go on only up to the cut (detours.h).
// Which tails fit together with a label is told by the room left over
// (residues.h): those of a vertex lie in order of their residue, and few lie
// where next to nothing is left over.
//
//   entry ── labels ── cut ── tails ── end          and rounds of the loops
//
// In → Out: a line, its loops and guides, price, room, the most that matters →
// tails by vertex.
// Threads and ownership: borrows nothing once made.
// Source: Horowitz and Sahni, Computing partitions with applications to the
// knapsack problem (1974), here along walks.
#ifndef MESHWRIGHT_PLANNER_SEARCH_TAILS_H_
#define MESHWRIGHT_PLANNER_SEARCH_TAILS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "planner/search/blocks.h"
#include "planner/search/guides.h"
#include "planner/search/loops.h"
#include "planner/search/residues.h"
#include "planner/search/until.h"

namespace meshwright::search {

// What follows a copy at some vertex, that copy not included.
struct Tail {
  Cost time = 0;
  int64_t bytes = 0;
  int steps = 0;  // within the block, but for rounds
  int node = -1;
  bool met[2] = {false, false};  // roots of loops
};

class Tails {
 public:
  // Of a long block with one loop or two, no long one after it: about as many
  // tails as wanted, the cheapest, of those with which priced time does not
  // exceed `most`. Empty where residues cannot be told, where even few steps of
  // the reach lead to many more, or stopped.
  static std::optional<Tails> Make(const LongBlock& where, Cost most,
                                   int64_t wanted, const Until& until);

  // Tails cost up to so much more than the cheapest of their vertex.
  Cost reach() const { return reach_; }

  // The vertices of the tail, in order, as a list.
  struct Node {
    int next = -1;
    int block = 0;
    int vertex = 0;
  };
  const Node& node(int at) const { return nodes_[at]; }

  // Calls `visit` with the tails from `v` that, together with `bytes` so far
  // and `left` steps to go, may cost no more than `slack` above the cheapest,
  // the price of the room left over included. Returns how many were looked at.
  template <typename Visit>
  int64_t ForEach(int v, int64_t bytes, int64_t left, Cost slack,
                  const Visit& visit) const {
    const Shelf& shelf = shelves_[v];
    const auto count = static_cast<int64_t>(shelf.keys.size());
    if (count == 0) return 0;
    const int64_t at = residues_.Of(room_ - bytes, left);
    // From there on down, and round once.
    int64_t next = shelf.begins[shelf.PartOf(at) + 1];
    while (next > 0 && shelf.keys[next - 1].place > at) --next;
    int64_t turned = 0;
    for (int64_t looked = 0; looked < count; ++looked) {
      if (next == 0) {
        next = count;
        turned = residues_.modulus;
      }
      const Key& key = shelf.keys[--next];
      const int64_t over = at - key.place + turned;
      const Cost spare = PriceOf(price_, over / residues_.unit);
      if (spare > slack) return looked;
      if (key.slack + spare > slack || over % residues_.unit != 0) continue;
      const Tail& tail = tails_[key.tail];
      if (tail.steps <= left && tail.bytes <= room_ - bytes) visit(tail);
    }
    return count;
  }

 private:
  struct Key {
    int64_t place = 0;  // residue
    Cost slack = 0;     // above the cheapest of the vertex
    int tail = 0;
  };
  // Those of a vertex, by place, rising; equal parts of the modulus begin at
  // `begins`, the last of which is the end.
  struct Shelf {
    std::vector<Key> keys;
    std::vector<int> begins;
    double per_place = 0;

    size_t PartOf(int64_t place) const {
      return static_cast<size_t>(static_cast<double>(place) * per_place);
    }
  };
  class Maker;

  Tails() = default;
  void Sort(Shelf& shelf) const;

  Residues residues_;
  int64_t price_ = 0;
  int64_t room_ = 0;
  Cost reach_ = 0;
  std::vector<Shelf> shelves_;  // by vertex
  std::vector<Tail> tails_;
  std::vector<Node> nodes_;
};

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_TAILS_H_
