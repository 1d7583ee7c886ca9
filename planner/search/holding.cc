#include "planner/search/holding.h"

#include <algorithm>

namespace meshwright::search {
namespace {

// Work bounds of the branching; the best choice found so far is taken then.
constexpr int64_t kMostBranches = 20'000;
constexpr int64_t kMostVisits = 50'000'000;

class Branching {
 public:
  Branching(const Graph& graph, const std::vector<std::vector<int>>& joins_of,
            const std::vector<int>& component, int64_t most, Marks& marks)
      : graph_(graph),
        joins_of_(joins_of),
        component_(component),
        bound_(most + 1),
        held_(marks.held),
        seen_(marks.seen) {
    for (const int v : component) {
      if (joins_of[v].size() >= 3) crowded_.push_back(v);
    }
  }

  std::optional<Held> Run() {
    Branch(1);
    for (const int v : component_) seen_[v] = false;
    return best_;
  }

 private:
  int64_t Weight(int v) const {
    return std::max(graph_.unaries[graph_.variables[v].unary].allowed, 1);
  }

  bool IsActive(const Join& join) const {
    return join.is_run || (!held_[join.from] && !held_[join.to]);
  }

  static int Other(const Join& join, int v) {
    return join.from == v ? join.to : join.from;
  }

  void Branch(int64_t combinations) {
    if (combinations >= bound_ || ++branches_ > kMostBranches) return;
    if (best_.has_value() && visits_ > kMostVisits) return;
    for (const int v : crowded_) {
      std::vector<int> ends = {v};
      int active = 0;
      for (const int j : joins_of_[v]) {
        const Join& join = graph_.joins[j];
        if (!IsActive(join) || active == 3) continue;
        ++active;
        if (!join.is_run) ends.push_back(Other(join, v));
      }
      if (active < 3) continue;
      std::stable_sort(ends.begin() + 1, ends.end(),
                       [this](int a, int b) { return Weight(a) < Weight(b); });
      for (const int end : ends) {
        held_[end] = true;
        order_.push_back(end);
        Branch(combinations * Weight(end));
        order_.pop_back();
        held_[end] = false;
      }
      return;
    }
    OpenCycles(combinations);
  }

  // No variable has more than two active joins: paths and cycles remain.
  void OpenCycles(int64_t combinations) {
    for (const int v : component_) seen_[v] = false;
    std::vector<int> opened;
    for (const int start : component_) {
      ++visits_;
      if (seen_[start]) continue;
      bool is_cycle = true;
      int lightest = start;
      std::vector<int> pending = {start};
      seen_[start] = true;
      while (!pending.empty()) {
        const int v = pending.back();
        pending.pop_back();
        int active = 0;
        for (const int j : joins_of_[v]) {
          const Join& join = graph_.joins[j];
          if (!IsActive(join)) continue;
          ++active;
          const int other = Other(join, v);
          if (!seen_[other]) pending.push_back(other);
          seen_[other] = true;
        }
        if (active < 2) is_cycle = false;
        if (std::pair(Weight(v), v) < std::pair(Weight(lightest), lightest)) {
          lightest = v;
        }
      }
      if (!is_cycle) continue;
      opened.push_back(lightest);
      combinations *= Weight(lightest);
      if (combinations >= bound_) return;
    }
    bound_ = combinations;
    best_ = Held{order_, combinations};
    best_->variables.insert(best_->variables.end(), opened.begin(),
                            opened.end());
    std::sort(best_->variables.begin(), best_->variables.end());
  }

  const Graph& graph_;
  const std::vector<std::vector<int>>& joins_of_;
  const std::vector<int>& component_;
  int64_t bound_;  // combinations must stay below it
  std::vector<bool>& held_;
  std::vector<bool>& seen_;
  std::vector<int> order_;
  std::vector<int> crowded_;
  std::optional<Held> best_;
  int64_t branches_ = 0;
  int64_t visits_ = 0;
};

}  // namespace

std::optional<Held> ChooseHeld(const Graph& graph,
                               const std::vector<std::vector<int>>& joins_of,
                               const std::vector<int>& component, int64_t most,
                               Marks& marks) {
  return Branching(graph, joins_of, component, most, marks).Run();
}

}  // namespace meshwright::search
