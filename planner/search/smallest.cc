#include "planner/search/smallest.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace meshwright::search {
namespace {

constexpr int64_t kNoSlot = std::numeric_limits<int64_t>::max();

class Smallest {
 public:
  Smallest(const Model& model, const Buckets& buckets, const Graph& graph,
           const InnerCopies& inner)
      : model_(model),
        buckets_(buckets),
        graph_(graph),
        inner_(inner),
        places_(model.variables.size(), 0) {
    Arrange();
  }

  std::vector<int> Run() {
    if (ReadOff(false)) return places_;
    if (!Meet()) {
      ReadOff(true);
      return places_;
    }
    for (const int v : buckets_.sequence()) {
      for (auto& [scope, decision] : met_[v]) Settle(v, scope, decision);
    }
    for (const int v : preorder_) places_[v] = Settled(v).chosen();
    return places_;
  }

 private:
  struct Decision {
    std::vector<int> best;  // rising; the settled one comes first in the end

    int chosen() const { return best.front(); }
  };

  // The tree of buckets, preorder, and the smallest slot below each variable.
  void Arrange() {
    const size_t size = model_.variables.size();
    std::vector<std::vector<int>> children(size);
    std::vector<int> roots;
    for (const int v : buckets_.sequence()) {
      const std::vector<int>& scope = buckets_.scope(v);
      if (scope.empty()) {
        roots.push_back(v);
        continue;
      }
      children[*std::min_element(scope.begin(), scope.end(),
                                 [this](int a, int b) {
                                   return buckets_.turn(a) < buckets_.turn(b);
                                 })]
          .push_back(v);
    }
    hidden_of_.resize(size);
    for (const Model::Hidden& hidden : model_.hidden) {
      hidden_of_[Owner(hidden)].push_back(&hidden);
    }
    below_.assign(size, kNoSlot);
    for (const int v : buckets_.sequence()) {
      for (const int child : children[v]) {
        below_[v] =
            std::min({below_[v], below_[child], model_.variables[child].slot});
      }
      for (const Model::Hidden* hidden : hidden_of_[v]) {
        const Join& join = graph_.joins[hidden->join];
        below_[v] = std::min(below_[v], graph_.variables[join.from].slot + 1);
      }
    }
    begin_.resize(size);
    end_.resize(size);
    std::vector<std::pair<int, bool>> open;  // variable, is finished
    for (const int root : roots) open.push_back({root, false});
    while (!open.empty()) {
      const auto [v, is_finished] = open.back();
      open.pop_back();
      if (is_finished) {
        end_[v] = preorder_.size();
        continue;
      }
      begin_[v] = preorder_.size();
      preorder_.push_back(v);
      open.push_back({v, true});
      for (const int child : children[v]) open.push_back({child, false});
    }
  }

  // The end whose bucket has the other in its scope, or a constant other.
  int Owner(const Model::Hidden& hidden) const {
    if (model_.size(hidden.a) == 1) return hidden.b;
    if (model_.size(hidden.b) == 1) return hidden.a;
    return buckets_.turn(hidden.a) < buckets_.turn(hidden.b) ? hidden.a
                                                             : hidden.b;
  }

  std::vector<int> BestOf(int v) {
    buckets_.Additions(v, places_, additions_);
    std::vector<int> best;
    for (size_t c = 0; c < additions_.size(); ++c) {
      if (additions_[c] == 0) best.push_back(c);
    }
    return best;
  }

  // From the roots down, the smallest place at each variable. False, unless
  // `at_any_rate`, where that may not make the smallest choice.
  bool ReadOff(bool at_any_rate) {
    for (const int v : preorder_) {
      const std::vector<int> best = BestOf(v);
      if (best.size() > 1 && below_[v] < model_.variables[v].slot &&
          !at_any_rate) {
        return false;
      }
      places_[v] = best.front();
    }
    return true;
  }

  std::vector<int> ScopeOf(int v) const {
    std::vector<int> scope;
    for (const int u : buckets_.scope(v)) scope.push_back(places_[u]);
    return scope;
  }

  void Enter(int v, const std::vector<int>& scope) {
    for (size_t i = 0; i < scope.size(); ++i) {
      places_[buckets_.scope(v)[i]] = scope[i];
    }
  }

  // Finds every decision that a best choice can meet.
  bool Meet() {
    met_.resize(model_.variables.size());
    int64_t count = 0;
    for (const int v : preorder_) {
      if (buckets_.scope(v).empty()) met_[v].try_emplace({});
      for (auto& [scope, decision] : met_[v]) {
        if (++count > kMostMet) return false;
        Enter(v, scope);
        decision.best = BestOf(v);
        for (const int place : decision.best) {
          places_[v] = place;
          for (size_t at = begin_[v] + 1; at < end_[v];
               at = end_[preorder_[at]]) {
            const int child = preorder_[at];
            met_[child].try_emplace(ScopeOf(child));
          }
        }
      }
    }
    return true;
  }

  Decision& Settled(int v) { return met_[v].find(ScopeOf(v))->second; }

  void Settle(int v, const std::vector<int>& scope, Decision& decision) {
    if (decision.best.size() == 1) return;
    if (model_.variables[v].slot < below_[v]) return;
    Enter(v, scope);
    Listing least = List(v, decision.best.front());
    for (size_t i = 1; i < decision.best.size(); ++i) {
      Listing other = List(v, decision.best[i]);
      if (other >= least) continue;
      least = std::move(other);
      std::swap(decision.best.front(), decision.best[i]);
    }
  }

  using Listing = std::vector<std::pair<int64_t, int>>;  // slot, configuration

  // What `v` and all below it take when `v` takes `place`.
  Listing List(int v, int place) {
    places_[v] = place;
    Listing listing;
    for (size_t at = begin_[v]; at < end_[v]; ++at) {
      const int u = preorder_[at];
      if (u != v) places_[u] = Settled(u).chosen();
      listing.push_back({model_.variables[u].slot, ConfigOf(u)});
      for (const Model::Hidden* hidden : hidden_of_[u]) {
        const Join& join = graph_.joins[hidden->join];
        int64_t slot = graph_.variables[join.from].slot;
        for (const int config :
             inner_(hidden->join, ConfigOf(hidden->a), ConfigOf(hidden->b))) {
          listing.push_back({++slot, config});
        }
      }
    }
    std::sort(listing.begin(), listing.end());
    return listing;
  }

  int ConfigOf(int v) const { return model_.domain(v).configs[places_[v]]; }

  const Model& model_;
  const Buckets& buckets_;
  const Graph& graph_;
  const InnerCopies& inner_;
  std::vector<int> places_;
  std::vector<std::vector<const Model::Hidden*>> hidden_of_;  // by owner
  std::vector<int64_t> below_;
  std::vector<int> preorder_;
  std::vector<size_t> begin_;  // of what hangs below, itself first
  std::vector<size_t> end_;
  std::vector<std::map<std::vector<int>, Decision>> met_;
  std::vector<Cost> additions_;
};

}  // namespace

std::vector<int> SmallestPlaces(const Model& model, const Buckets& buckets,
                                const Graph& graph, const InnerCopies& inner) {
  return Smallest(model, buckets, graph, inner).Run();
}

}  // namespace meshwright::search
