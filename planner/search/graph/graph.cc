#include "planner/search/graph/graph.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "planner/problem/allowed.h"

namespace meshwright::search {
namespace {

using problem::PlanProblem;
using problem::SaturatingAdd;
using problem::SaturatingMultiply;

class Builder {
 public:
  explicit Builder(const PlanProblem& problem)
      : problem_(problem), self_(problem.types.size()) {
    for (const problem::Table& table : problem.tables) {
      Matrix matrix{table.rows, table.columns, {}};
      matrix.entries.reserve(table.entries.size());
      for (const auto& entry : table.entries) {
        matrix.entries.push_back(entry ? entry->count() : kNever);
      }
      matrices_.Add(std::move(matrix));
    }
    for (const problem::SelfEdge& edge : problem.self_edges) {
      self_[edge.type] = edge.table;
    }
  }

  Graph Build() {
    int64_t slot = 0;
    for (size_t n = 0; n < problem_.nodes.size(); ++n) {
      graph_.first_slot.push_back(slot);
      slot += AddNode(n, slot);
    }
    graph_.first_slot.push_back(slot);
    AddEdges();
    graph_.matrices = std::make_shared<const MatrixSet>(std::move(matrices_));
    return std::move(graph_);
  }

 private:
  // Returns the slots the node takes.
  int64_t AddNode(int n, int64_t slot) {
    const problem::Node& node = problem_.nodes[n];
    const int unary = FindUnary(n);
    graph_.node_unary.push_back(unary);
    const int first = graph_.variables.size();
    first_.push_back(first);
    graph_.variables.push_back({unary, slot});
    if (node.tied || node.repeat == 1) {
      last_.push_back(first);
      return 1;
    }
    last_.push_back(first + 1);
    graph_.variables.push_back({unary, slot + node.repeat - 1});
    graph_.joins.push_back({.from = first,
                            .to = first + 1,
                            .matrix = SelfMatrix(node.type),
                            .is_run = true,
                            .between = node.repeat - 2});
    return node.repeat;
  }

  int FindUnary(int n) {
    const problem::Node& node = problem_.nodes[n];
    std::vector<int> allowed;  // empty: all
    if (problem::IsRestricted(problem_, n)) {
      allowed = problem::ListAllowedConfigs(problem_, n);
    }
    const int64_t copies = node.tied ? node.repeat : 1;
    const auto [entry, is_new] = known_.try_emplace(
        {node.type, copies, allowed}, static_cast<int>(graph_.unaries.size()));
    if (is_new) graph_.unaries.push_back(MakeUnary(node.type, copies, allowed));
    return entry->second;
  }

  UnaryKind MakeUnary(int type, int64_t copies,
                      const std::vector<int>& allowed) const {
    UnaryKind kind;
    const auto& configs = problem_.types[type].configs;
    for (size_t c = 0; c < configs.size(); ++c) {
      const problem::Config& config = configs[c];
      Cost time = SaturatingMultiply(copies, config.time.count());
      if (copies > 1 && self_[type].has_value()) {
        time = SaturatingAdd(
            time, SaturatingMultiply(copies - 1,
                                     matrices_.all[*self_[type]].at(c, c)));
      }
      if (!allowed.empty() &&
          !std::binary_search(allowed.begin(), allowed.end(), c)) {
        time = kNever;
      }
      kind.time.push_back(Clamp(time));
      kind.allowed += kind.time.back() < kNever ? 1 : 0;
      kind.bytes.push_back(SaturatingMultiply(
          copies, SaturatingAdd(config.persistent_bytes, config.saved_bytes)));
      kind.transient.push_back(config.transient_bytes);
    }
    return kind;
  }

  int SelfMatrix(int type) {
    if (self_[type].has_value()) return *self_[type];
    const int size = problem_.types[type].configs.size();
    const auto [entry, is_new] = zero_.try_emplace(size, 0);
    if (is_new) {
      entry->second = matrices_.Add(
          {size, size, std::vector<Cost>(static_cast<size_t>(size) * size)});
    }
    return entry->second;
  }

  void AddEdges() {
    struct Ends {  // variables
      int from = 0;
      int to = 0;
      auto operator<=>(const Ends&) const = default;
    };
    std::map<Ends, std::vector<int>> tables;
    for (const problem::Edge& edge : problem_.edges) {
      tables[{last_[edge.from], first_[edge.to]}].push_back(edge.table);
    }
    for (const auto& [ends, parallel] : tables) {
      graph_.joins.push_back(
          {.from = ends.from, .to = ends.to, .matrix = AddTables(parallel)});
    }
  }

  int AddTables(const std::vector<int>& tables) {
    if (tables.size() == 1) return tables.front();
    Matrix sum = matrices_.all[tables.front()];
    for (size_t i = 1; i < tables.size(); ++i) {
      const Matrix& other = matrices_.all[tables[i]];
      for (size_t e = 0; e < sum.entries.size(); ++e) {
        sum.entries[e] = Clamp(sum.entries[e] + other.entries[e]);
      }
    }
    return matrices_.Add(std::move(sum));
  }

  const PlanProblem& problem_;
  std::vector<std::optional<int>> self_;  // matrix of each type's self edge
  std::vector<int> first_;
  std::vector<int> last_;
  std::map<std::tuple<int, int64_t, std::vector<int>>, int> known_;
  std::map<int, int> zero_;
  MatrixSet matrices_;
  Graph graph_;
};

}  // namespace

Graph BuildGraph(const PlanProblem& problem) {
  return Builder(problem).Build();
}

Costs TimeCosts(const Graph& graph) {
  Costs costs;
  for (const UnaryKind& kind : graph.unaries) {
    costs.unaries.push_back(kind.time);
  }
  costs.matrices = graph.matrices;
  return costs;
}

problem::Choice ToChoice(const PlanProblem& problem, const Graph& graph,
                         const std::vector<int>& slots) {
  problem::Choice choice;
  choice.reserve(problem.nodes.size());
  for (size_t n = 0; n < problem.nodes.size(); ++n) {
    const auto begin = slots.begin() + graph.first_slot[n];
    const auto end = slots.begin() + graph.first_slot[n + 1];
    if (problem.nodes[n].tied) {
      choice.emplace_back(problem.nodes[n].repeat, *begin);
    } else {
      choice.emplace_back(begin, end);
    }
  }
  return choice;
}

}  // namespace meshwright::search
