// LineSearch: the fastest plan of a line within a memory limit, step by step.
//
// Concept: as limited.h, ranges of the largest transient are priced and halved;
// but a price is tried on runs folded (min_sum.h), and where the transient is
// settled detours (line_proof.h) prove the best plan, near the bound first.
// Several searches, of one problem's parts, may share an incumbent: each drops
// what is no faster.
// In → Out: a graph of paths, the limit, two plans → a better incumbent, and
// the bound of what is still open.
// Threads and ownership: borrows all it is given.
#ifndef MESHWRIGHT_PLANNER_SEARCH_LINE_SEARCH_H_
#define MESHWRIGHT_PLANNER_SEARCH_LINE_SEARCH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "planner/search/blocks.h"
#include "planner/search/bracket.h"
#include "planner/search/effort.h"
#include "planner/search/fill_room.h"
#include "planner/search/line_proof.h"
#include "planner/search/memory.h"
#include "planner/search/min_sum.h"
#include "planner/search/model.h"
#include "planner/search/until.h"

namespace meshwright::search {

class LineSearch {
 public:
  // `line` is that of the graph. `candidates` counts labels looked at, here
  // and in other searches.
  LineSearch(const Graph& graph, const std::vector<Component>& components,
             const Line& line, int64_t limit_bytes, const Effort& effort,
             const Until& until, Incumbent& incumbent, int64_t& candidates);

  // Prices all plans, none of which takes less than `least`; `fast` does not
  // fit, `small` does.
  void Begin(const std::vector<int>& fast, const std::vector<int>& small,
             Cost least);

  // For a good plan early: the better half of the better half, and the first
  // that detours find in it.
  void Dive();

  // Halves or proves the range of the least bound.
  void Step();

  // Whether no plan left is faster than the incumbent, or none is looked at.
  bool IsOver() const;

  // No plan of the graph takes less, but those the incumbent is one of.
  Cost bound() const;

 private:
  // A plan, as a line over prices.
  struct Side {
    Point point;
    std::vector<int> slots;
  };

  // Plans whose largest transient is between two values.
  struct Range {
    int low = 0;  // indices of transients
    int high = 0;
    Cost bound = 0;
    int64_t price = 0;
    Cost reach = 0;  // above the bound, to be looked at
    Side fast;       // of too many bytes
    Side small;      // of few enough
    std::shared_ptr<LineProof> proof;

    bool operator<(const Range& other) const {  // the least bound on top
      return std::pair(bound, low) > std::pair(other.bound, other.low);
    }
  };

  std::pair<Range, Range> Halves(const Range& range);
  Range TakeTop();
  void Keep(Range range);
  int64_t RoomOf(const Range& range) const;
  int64_t NextPrice(const Range& range) const;
  void Price(Range& range);
  void Raise(Range& range, int64_t price, Cost cost, bool is_first) const;
  std::optional<int64_t> Settle(Range& range, Bracket& bracket, int64_t price,
                                const std::vector<int>& slots);
  void MixSides(const Range& range);
  void SetCosts(int64_t most_transient, int64_t price);
  Side SideOf(const std::vector<int>& slots);
  void Offer(const std::vector<int>& places);
  void Prove(Range& range);
  Cost OwnedCost(const Line& line,
                 const std::vector<std::vector<Cost>>& through,
                 const Range& range) const;
  Line Settled(Range& range);
  std::vector<int> SlotsOf(const Line& line,
                           const std::vector<Walk>& walks) const;
  std::unique_ptr<LineProof> MakeProof(Range& range);

  const Graph& graph_;
  const std::vector<Component>& components_;
  const Line& line_;
  const Model model_;
  const Model alone_;  // the same, without joins that cost the same always
  const int64_t limit_;
  const Effort& effort_;
  const Until& until_;
  Incumbent& incumbent_;
  int64_t& candidates_;
  Costs costs_;
  int64_t dearest_ = 0;  // beyond it, priced bytes might not add up
  std::vector<int64_t> transients_;
  std::priority_queue<Range> open_;
  Cost given_up_ = kNever;  // the least bound of ranges no longer open
  Fills fills_;
};

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_LINE_SEARCH_H_
