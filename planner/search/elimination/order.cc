#include "planner/search/elimination/order.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>
#include <set>
#include <utility>

namespace meshwright::search {
namespace {

using Adjacency = std::vector<std::vector<int>>;  // rising neighbours

constexpr double kHopeless = 1e15;  // steps
constexpr size_t kMaxTried = 256;   // variables of a core tried by both rules

Adjacency FindNeighbours(const Model& model) {
  Adjacency adjacency(model.variables.size());
  for (const Model::Join& join : model.joins) {
    adjacency[join.a].push_back(join.b);
    adjacency[join.b].push_back(join.a);
  }
  for (std::vector<int>& neighbours : adjacency) {
    std::sort(neighbours.begin(), neighbours.end());
    neighbours.erase(std::unique(neighbours.begin(), neighbours.end()),
                     neighbours.end());
  }
  return adjacency;
}

std::vector<int> FindSizes(const Model& model) {
  std::vector<int> sizes;
  for (size_t v = 0; v < model.variables.size(); ++v) {
    sizes.push_back(std::max(model.size(v), 1));
  }
  return sizes;
}

class Elimination {
 public:
  Elimination(std::vector<int> sizes, Adjacency adjacency)
      : adjacency_(std::move(adjacency)),
        gone_(adjacency_.size(), false),
        size_(std::move(sizes)) {}

  // The rest, on its own; `names` gets the number here of each there.
  Elimination Rest(std::vector<int>& names) const {
    std::vector<int> number(gone_.size());
    std::vector<int> sizes;
    for (size_t v = 0; v < gone_.size(); ++v) {
      if (gone_[v]) continue;
      number[v] = names.size();
      names.push_back(v);
      sizes.push_back(size_[v]);
    }
    Adjacency adjacency;
    for (const int v : names) {
      adjacency.push_back(adjacency_[v]);
      for (int& u : adjacency.back()) u = number[u];
    }
    return {std::move(sizes), std::move(adjacency)};
  }

  double Weight(int v) const {
    double weight = size_[v];
    for (const int u : adjacency_[v]) weight *= size_[u];
    return weight;
  }

  // The entries of the pairs of neighbours that `v` would join.
  double Fill(int v) const {
    double fill = 0;
    const std::vector<int>& neighbours = adjacency_[v];
    for (size_t i = 0; i < neighbours.size(); ++i) {
      const std::vector<int>& known = adjacency_[neighbours[i]];
      for (size_t j = i + 1; j < neighbours.size(); ++j) {
        if (!std::binary_search(known.begin(), known.end(), neighbours[j])) {
          fill += 1.0 * size_[neighbours[i]] * size_[neighbours[j]];
        }
      }
    }
    return fill;
  }

  void Eliminate(int v) {
    order_.sequence.push_back(v);
    order_.steps += Weight(v);
    order_.entries += Weight(v) / size_[v];
    gone_[v] = true;
    const std::vector<int> neighbours = std::move(adjacency_[v]);
    adjacency_[v].clear();
    for (const int u : neighbours) {
      std::vector<int> joined;
      joined.reserve(adjacency_[u].size() + neighbours.size());
      std::set_union(adjacency_[u].begin(), adjacency_[u].end(),
                     neighbours.begin(), neighbours.end(),
                     std::back_inserter(joined));
      std::erase_if(joined, [&](int w) { return w == u || w == v; });
      adjacency_[u] = std::move(joined);
    }
  }

  // Everything left, in rising order, without its cost.
  void GiveUp() {
    order_.steps = order_.entries = std::numeric_limits<double>::infinity();
    for (size_t v = 0; v < gone_.size(); ++v) {
      if (!gone_[v]) order_.sequence.push_back(v);
    }
  }

  bool IsGone(int v) const { return gone_[v]; }
  const std::vector<int>& neighbours(int v) const { return adjacency_[v]; }
  int variables() const { return static_cast<int>(gone_.size()); }
  Order& order() { return order_; }

 private:
  Adjacency adjacency_;
  std::vector<bool> gone_;
  std::vector<int> size_;
  Order order_;
};

// Eliminates what has at most two neighbours: ends before middles.
void EliminateThin(Elimination& elimination) {
  struct Candidate {
    bool is_middle = false;
    int variable = 0;
    auto operator<=>(const Candidate&) const = default;
  };
  std::set<Candidate> thin;
  const auto note = [&](int v) {
    const size_t degree = elimination.neighbours(v).size();
    if (degree <= 2) thin.insert({degree == 2, v});
  };
  for (int v = 0; v < elimination.variables(); ++v) note(v);
  while (!thin.empty()) {
    const int v = thin.begin()->variable;
    thin.erase(thin.begin());
    const std::vector<int> neighbours = elimination.neighbours(v);
    elimination.Eliminate(v);
    for (const int u : neighbours) {
      thin.erase({true, u});
      note(u);
    }
  }
}

enum class Rule { kWeight, kFill };

// Eliminates the rest.
void EliminateThick(Elimination& elimination, Rule rule) {
  std::set<std::pair<double, int>> ranked;
  std::vector<double> rank(elimination.variables());
  const auto note = [&](int v) {
    rank[v] =
        rule == Rule::kWeight ? elimination.Weight(v) : elimination.Fill(v);
    ranked.insert({rank[v], v});
  };
  for (int v = 0; v < elimination.variables(); ++v) {
    if (!elimination.IsGone(v)) note(v);
  }
  while (!ranked.empty()) {
    const int v = ranked.begin()->second;
    ranked.erase(ranked.begin());
    if (elimination.order().steps + elimination.Weight(v) > kHopeless) {
      elimination.GiveUp();
      return;
    }
    const std::vector<int> neighbours = elimination.neighbours(v);
    elimination.Eliminate(v);
    for (const int u : neighbours) {
      ranked.erase({rank[u], u});
      note(u);
    }
  }
}

}  // namespace

Order CountSteps(const Model& model, const std::vector<int>& sequence) {
  Elimination elimination(FindSizes(model), FindNeighbours(model));
  for (const int v : sequence) elimination.Eliminate(v);
  return std::move(elimination.order());
}

Order ChooseOrder(const Model& model, const base::Deadline& deadline) {
  Elimination thin(FindSizes(model), FindNeighbours(model));
  EliminateThin(thin);
  std::vector<int> names;
  const Elimination thick = thin.Rest(names);
  Order best;
  const auto attempt = [&](Rule rule) {
    Elimination trial = thick;
    EliminateThick(trial, rule);
    if (best.sequence.empty() || trial.order().steps < best.steps) {
      best = std::move(trial.order());
    }
  };
  attempt(Rule::kWeight);
  if (names.size() <= kMaxTried && names.size() > 1 && !deadline.HasPassed()) {
    attempt(Rule::kFill);
  }
  Order order = std::move(thin.order());
  for (const int v : best.sequence) order.sequence.push_back(names[v]);
  order.steps += best.steps;
  order.entries += best.entries;
  return order;
}

}  // namespace meshwright::search
