#include "planner/search/walk_states.h"

namespace meshwright::search {

int WalkStates::Begin(int vertex) {
  WalkState state{.vertex = vertex};
  for (size_t k = 0; k < loops_.size(); ++k) {
    state.met[k] = loops_[k].vertices.front() == vertex;
  }
  return NumberOf(state);
}

int WalkStates::Step(int state, int to) {
  const WalkState from = states_[state];
  WalkState next{.vertex = to};
  for (size_t k = 0; k < loops_.size(); ++k) {
    const Closed& loop = loops_[k].vertices;
    const bool is_at_root = from.vertex == loop.front();
    next.met[k] = from.met[k] || to == loop.front();
    if (!is_at_root && from.begun[k] == 0) continue;
    const size_t begun = is_at_root ? 1 : from.begun[k] + 1;
    if (to != loop[begun % loop.size()]) continue;
    if (begun == loop.size()) return kForbidden;
    next.begun[k] = static_cast<int>(begun);
  }
  return NumberOf(next);
}

int WalkStates::NumberOf(const WalkState& state) {
  const auto [entry, is_new] =
      numbers_.try_emplace(state, static_cast<int>(states_.size()));
  if (is_new) {
    states_.push_back(state);
    after_.emplace_back();
  }
  return entry->second;
}

}  // namespace meshwright::search
