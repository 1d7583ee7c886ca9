#include "planner/search/graph/model.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace meshwright::search {
namespace {

// Builds a model from a graph's unary kinds and matrices.
class ModelBuilder {
 public:
  ModelBuilder(const Graph& graph, const Costs& costs, bool with_memory)
      : graph_(graph), costs_(costs), with_memory_(with_memory) {}

  int AddVariable(int unary, int64_t slot) {
    const auto [entry, is_new] =
        domains_.try_emplace(unary, static_cast<int>(model_.domains.size()));
    if (is_new) {
      model_.domains.push_back(MakeDomain(unary));
    }
    model_.variables.push_back({entry->second, slot});
    return static_cast<int>(model_.variables.size()) - 1;
  }

  // `source` tells equal matrices apart; `whole` has all configurations.
  void AddJoin(int a, int b, std::pair<int, int64_t> source,
               const Matrix& whole) {
    const int rows = model_.variables[a].domain;
    const int columns = model_.variables[b].domain;
    const auto [entry, is_new] = matrices_.try_emplace(
        {source, rows, columns}, static_cast<int>(model_.matrices.size()));
    if (is_new) {
      model_.matrices.push_back(Part(whole, model_.domains[rows].configs,
                                     model_.domains[columns].configs));
    }
    model_.joins.push_back({a, b, entry->second});
  }

  Model& model() { return model_; }

 private:
  Domain MakeDomain(int unary) const {
    const UnaryKind& kind = graph_.unaries[unary];
    const std::vector<Cost>& cost = costs_.unaries[unary];
    Domain domain;
    for (size_t c = 0; c < cost.size(); ++c) {
      if (cost[c] >= kNever) continue;
      domain.configs.push_back(c);
      domain.time.push_back(cost[c]);
      domain.bytes.push_back(with_memory_ ? kind.bytes[c] : 0);
      domain.transient.push_back(with_memory_ ? kind.transient[c] : 0);
    }
    return domain;
  }

  const Graph& graph_;
  const Costs& costs_;
  const bool with_memory_;
  Model model_;
  std::map<int, int> domains_;  // by unary kind
  std::map<std::tuple<std::pair<int, int64_t>, int, int>, int> matrices_;
};

}  // namespace

bool Model::IsPossible() const {
  return std::all_of(
      variables.begin(), variables.end(),
      [this](const Variable& v) { return domains[v.domain].size() > 0; });
}

std::vector<std::vector<int>> FindJoins(const Model& model) {
  std::vector<std::vector<int>> joins(model.variables.size());
  for (size_t j = 0; j < model.joins.size(); ++j) {
    joins[model.joins[j].a].push_back(j);
    joins[model.joins[j].b].push_back(j);
  }
  return joins;
}

// A graph without cycles loses a component with each of its edges.
int64_t CountJoinEntries(const Model& model) {
  int64_t entries = 0;
  for (const Model::Join& join : model.joins) {
    entries += static_cast<int64_t>(model.size(join.a)) * model.size(join.b);
  }
  return entries;
}

bool IsForest(const Model& model) {
  std::vector<int> root(model.variables.size());
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int v) {
    while (root[v] != v) v = root[v] = root[root[v]];
    return v;
  };
  for (const Model::Join& join : model.joins) {
    const int a = find(join.a);
    const int b = find(join.b);
    if (a == b) return false;
    root[a] = b;
  }
  return true;
}

std::vector<int> FindValues(const Model& model,
                            const std::vector<int>& configs) {
  std::vector<int> values;
  for (size_t v = 0; v < configs.size(); ++v) {
    const std::vector<int>& all = model.domain(v).configs;
    const auto at = std::lower_bound(all.begin(), all.end(), configs[v]);
    if (at == all.end() || *at != configs[v]) return {};
    values.push_back(static_cast<int>(at - all.begin()));
  }
  return values;
}

Model ComponentModel(const Graph& graph, const std::vector<int>& variables,
                     const std::vector<int>& joins, const Costs& costs,
                     RunMatrices& matrices) {
  ModelBuilder builder(graph, costs, false);
  std::map<int, int> made;  // variable of the graph → of the model
  for (const int v : variables) {
    made[v] =
        builder.AddVariable(graph.variables[v].unary, graph.variables[v].slot);
  }
  for (const int j : joins) {
    const Join& join = graph.joins[j];
    const int a = made[join.from];
    const int b = made[join.to];
    builder.AddJoin(a, b, {join.matrix, join.between},
                    matrices.FindMatrix(join));
    if (join.between == 0) continue;
    builder.model().joins.back().is_run = true;
    builder.model().hidden.push_back({a, b, j});
  }
  return std::move(builder.model());
}

Model LaidOutModel(const Graph& graph) {
  const Costs costs = TimeCosts(graph);
  ModelBuilder builder(graph, costs, true);
  for (size_t n = 0; n < graph.node_unary.size(); ++n) {
    for (int64_t s = graph.first_slot[n]; s < graph.first_slot[n + 1]; ++s) {
      builder.AddVariable(graph.node_unary[n], s);
    }
  }
  for (const Join& join : graph.joins) {
    const Matrix& matrix = graph.matrix(join.matrix);
    const int64_t from = graph.variables[join.from].slot;
    const int64_t to = graph.variables[join.to].slot;
    if (!join.is_run) {
      builder.AddJoin(from, to, {join.matrix, 0}, matrix);
      continue;
    }
    for (int64_t s = from; s < to; ++s) {
      builder.AddJoin(s, s + 1, {join.matrix, 0}, matrix);
    }
  }
  return std::move(builder.model());
}

}  // namespace meshwright::search
