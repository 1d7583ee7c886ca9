// Detours: the fastest plan of a line of blocks within a room for bytes,
// proved.
//
// Concept: a walk through a long block, with every full round of its loops
// taken out, is a short walk of detours; what matters besides is how often each
// loop was gone round, and where in the walk that was matters not at all. So
// labels go through detours alone, by the number of their steps, and rounds
// fill up what is left of the copies at the end. Equal copies in any order are
// thus looked at once, and the cost hardly grows with their number.
//
//   ── a ── c ── a ── b ──    and rounds of the loops at a and at b
//
// A label holds time, bytes and priced time; guides (guides.h) say what is left
// at the least. In a group (vertex, steps, loops met) the dominated go. Where
// labels are many, they go on only up to a cut, and tails of walks, made from
// the end, take over (tails.h).
// Of several long blocks, one may have two loops, whose rounds are settled
// last; those of the others follow from the steps left.
// In → Out: a line whose every configuration may be taken, room, the most time
// → the best plan up to it, or none.
// Source: label setting with Lagrangian potentials, as labels.h.
#ifndef MESHWRIGHT_PLANNER_SEARCH_DETOURS_H_
#define MESHWRIGHT_PLANNER_SEARCH_DETOURS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/search/blocks.h"
#include "planner/search/guides.h"
#include "planner/search/leftover.h"
#include "planner/search/loops.h"
#include "planner/search/tails.h"
#include "planner/search/until.h"
#include "planner/search/walk_states.h"

namespace meshwright::search {

class Detours {
 public:
  // Borrows the line and the loops, by block; `guides` are theirs at the price.
  Detours(const Line& line, const std::vector<std::vector<Loop>>& loops,
          std::vector<Guide> guides, int64_t price, int64_t room);

  // No plan within the room takes less.
  Cost bound() const;

  // Makes bounds sharper by what rounds leave over (leftover.h), for searches
  // of at most `most_time`; pays where many labels are looked at. False where
  // they cannot be made.
  bool Sharpen(Cost most_time, int64_t cells, const Until& until);

  // Cuts walks and has about as many tails as wanted (tails.h), for searches of
  // at most `most_time`; pays where labels are as many. False where that cannot
  // be.
  bool MeetTails(Cost most_time, int64_t wanted, const Until& until);

  // Looks at every plan of at most `most_time`; false if that took more than
  // `most_candidates`, or was stopped. Only what is faster than all met counts.
  bool Search(Cost most_time, int64_t most_candidates, const Until& until);

  // Of the fastest plan met; kNever if there was none.
  Cost time() const { return best_time_; }
  // Writes its configurations.
  void Choose(std::vector<int>& slots) const;

  int64_t candidates() const { return candidates_; }

 private:
  struct Label {
    Cost time = 0;
    Cost priced = 0;
    int64_t bytes = 0;
    int64_t open = 0;  // steps that two loops are to fill
    int node = kNoNode;
    int vertex = 0;
  };
  using Labels = std::vector<Label>;

  // Of the walk that a label stands for: a vertex, or rounds of a loop.
  struct Node {
    int before = kNoNode;
    int block = 0;
    int vertex = 0;
    int loop = 0;
    int64_t rounds = 0;
  };
  struct Arc {
    int to = 0;
    Cost priced = 0;
    Cost time = 0;
    Cost least = 0;  // priced, and the least left after it
  };
  // The cheapest way on from a block's last copy, where no long block follows.
  struct Ending {
    bool is_known = false;
    int next = 0;  // vertex of the block after
    Cost priced = 0;
    Cost time = 0;
    int64_t bytes = 0;
  };
  static constexpr int kNoNode = -1;

  std::vector<std::vector<Arc>> ArcsOf(size_t b) const;
  std::vector<Ending> EndingsOf(size_t b) const;
  Labels Entries(size_t b, Labels exits);
  bool Walk(size_t b, const Labels& entries, Labels& exits, const Until& until);
  void Expand(size_t b, int state, const Label& label, int64_t left,
              WalkStates& states, std::vector<Labels>& next);
  bool IsSpare(size_t b, const Label& label, int64_t left) const;
  void Leave(size_t b, const WalkState& state, Label label, int64_t left,
             Labels& exits);
  void Finish(size_t b, Label label);
  bool KnowsLeftover() const;
  LongBlock LastLong() const {
    return {line_, last_long_, loops_[last_long_], guides_, price_, room_};
  }
  bool IsCut(size_t b, const Label& label) const;
  void Join(size_t b, const WalkState& state, const Label& label, int64_t left);
  void FinishBy(const Tail& tail, size_t b, const WalkState& state, Label label,
                int64_t open);
  void Record(int node, Cost time, const Rounds& open);
  Cost TimeOf(const Label& label, Rounds& rounds) const;
  int AddNode(const Label& label, size_t b);

  const Line& line_;
  const std::vector<std::vector<Loop>>& loops_;
  const int64_t price_;
  const int64_t room_;
  const std::vector<Guide> guides_;
  std::vector<std::vector<std::vector<Arc>>> arcs_;  // by block and vertex
  std::vector<std::vector<Ending>> endings_;         // by block and vertex
  size_t open_block_ = 0;                            // that has two loops
  size_t last_long_ = 0;
  std::optional<Leftover> leftover_;  // of the last long block
  std::optional<Tails> tails_;        // of the same
  std::vector<Node> nodes_;
  std::vector<Labels> now_;  // by state; kept for their memory
  std::vector<Labels> next_;
  Cost most_ = 0;  // priced
  int64_t candidates_ = 0;
  int64_t most_candidates_ = 0;

  Cost best_time_ = kNever;
  std::vector<Node> best_;  // from the first on
  Rounds best_rounds_;
};

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_DETOURS_H_
