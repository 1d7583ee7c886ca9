// WalkStates: where a walk of detours is, and which rounds it has begun.
//
// Concept: a walk through a long block is at a vertex, has met the roots of
// some loops, and its last steps may be the first of a round. A step that ends
// a round is forbidden, as rounds are counted, not walked (detours.h). States
// are numbered as they are met, and the state after an arc is made once.
// Threads and ownership: borrows the loops; used by one thread at a time.
#ifndef MESHWRIGHT_PLANNER_SEARCH_WALK_STATES_H_
#define MESHWRIGHT_PLANNER_SEARCH_WALK_STATES_H_

#include <cstddef>
#include <map>
#include <tuple>
#include <vector>

#include "planner/search/loops.h"

namespace meshwright::search {

struct WalkState {
  int vertex = 0;
  int begun[2] = {0, 0};  // of each loop's round, steps
  bool met[2] = {false, false};

  bool MetAny() const { return met[0] || met[1]; }
  bool operator<(const WalkState& other) const { return Key() < other.Key(); }

 private:
  std::tuple<int, int, int, bool, bool> Key() const {
    return {vertex, begun[0], begun[1], met[0], met[1]};
  }
};

class WalkStates {
 public:
  static constexpr int kForbidden = -2;  // a full round

  explicit WalkStates(const std::vector<Loop>& loops) : loops_(loops) {}

  const WalkState& at(int state) const { return states_[state]; }
  // Of a walk that begins at `vertex`.
  int Begin(int vertex);
  // After arc number `arc` of the state's vertex, which has `arcs`, to `to`.
  int After(int state, size_t arc, size_t arcs, int to) {
    std::vector<int>& after = after_[state];
    if (after.empty()) after.assign(arcs, kUnknown);
    if (after[arc] == kUnknown) {
      const int made = Step(state, to);
      return after_[state][arc] = made;  // where states were moved to
    }
    return after[arc];
  }

 private:
  static constexpr int kUnknown = -1;

  int Step(int state, int to);
  int NumberOf(const WalkState& state);

  const std::vector<Loop>& loops_;
  std::map<WalkState, int> numbers_;
  std::vector<WalkState> states_;
  std::vector<std::vector<int>> after_;  // by state and arc
};

}  // namespace meshwright::search

#endif  // MESHWRIGHT_PLANNER_SEARCH_WALK_STATES_H_
