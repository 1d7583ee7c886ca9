#include "planner/search/tradeoffs/uniform.h"

#include <algorithm>
#include <map>
#include <utility>

#include "planner/problem/allowed.h"

namespace meshwright::search {
namespace {

using problem::Config;
using problem::Picoseconds;
using problem::PlanProblem;
using problem::SaturatingAdd;
using problem::SaturatingMultiply;
using problem::Table;
using Time = std::optional<Picoseconds>;

// Nothing where either is forbidden or they are too long together.
Time Sum(const Time& a, const Time& b) {
  if (!a.has_value() || !b.has_value()) return std::nullopt;
  const Picoseconds sum(SaturatingAdd(a->count(), b->count()));
  return sum <= problem::kMaxTime ? Time(sum) : std::nullopt;
}

Time Times(const Time& time, int64_t times) {
  if (times == 0) return Picoseconds(0);
  if (!time.has_value()) return std::nullopt;
  return Sum(Picoseconds(SaturatingMultiply(time->count(), times)),
             Picoseconds(0));
}

class Maker {
 public:
  explicit Maker(const PlanProblem& problem)
      : problem_(problem), node_of_(problem.types.size()) {}

  std::optional<Uniform> Make() {
    AddNodes();
    for (const problem::Edge& edge : problem_.edges) Join(edge);
    for (auto& [ends, table] : tables_) {
      out_.problem.edges.push_back(
          {ends.low, ends.high, static_cast<int>(out_.problem.tables.size())});
      out_.problem.tables.push_back(std::move(table));
    }
    for (size_t n = 0; n < times_.size(); ++n) {
      if (!Close(static_cast<int>(n))) return std::nullopt;
    }
    out_.problem.memory_limit_bytes = problem_.memory_limit_bytes;
    out_.problem.headroom_percent = problem_.headroom_percent;
    return std::move(out_);
  }

 private:
  struct NodePair {
    int low = 0;
    int high = 0;
    auto operator<=>(const NodePair&) const = default;
  };

  void AddNodes() {
    std::vector<const Table*> self(problem_.types.size(), nullptr);
    for (const problem::SelfEdge& edge : problem_.self_edges) {
      self[edge.type] = &problem_.tables[edge.table];
    }
    for (size_t n = 0; n < problem_.nodes.size(); ++n) {
      const problem::Node& node = problem_.nodes[n];
      const auto& configs = problem_.types[node.type].configs;
      std::optional<int>& found = node_of_[node.type];
      if (!found.has_value()) {
        found = static_cast<int>(out_.types.size());
        out_.types.push_back(node.type);
        out_.copies.push_back(0);
        times_.emplace_back(configs.size(), Picoseconds(0));
        allowed_.emplace_back(configs.size(), true);
      }
      const int at = *found;
      out_.copies[at] += node.repeat;
      const std::vector<int> allowed =
          problem::ListAllowedConfigs(problem_, static_cast<int>(n));
      for (size_t c = 0; c < configs.size(); ++c) {
        const int config = static_cast<int>(c);
        Time& time = times_[at][c];
        time = Sum(time, Times(configs[c].time, node.repeat));
        if (self[node.type] != nullptr) {
          time = Sum(time, Times(self[node.type]->at(config, config),
                                 node.repeat - 1));
        }
        allowed_[at][c] =
            allowed_[at][c] &&
            std::binary_search(allowed.begin(), allowed.end(), config);
      }
    }
  }

  void Join(const problem::Edge& edge) {
    const Table& table = problem_.tables[edge.table];
    const int from = *node_of_[problem_.nodes[edge.from].type];
    const int to = *node_of_[problem_.nodes[edge.to].type];
    if (from == to) {
      for (size_t c = 0; c < times_[from].size(); ++c) {
        const int config = static_cast<int>(c);
        times_[from][c] = Sum(times_[from][c], table.at(config, config));
      }
      return;
    }
    const auto [low, high] = std::minmax(from, to);
    Table& sum = tables_[{low, high}];
    if (sum.entries.empty()) {
      sum.rows = static_cast<int>(times_[low].size());
      sum.columns = static_cast<int>(times_[high].size());
      sum.entries.assign(times_[low].size() * times_[high].size(),
                         Picoseconds(0));
    }
    for (int a = 0; a < sum.rows; ++a) {
      for (int b = 0; b < sum.columns; ++b) {
        Time& entry = sum.entries[static_cast<size_t>(a) * sum.columns + b];
        entry = Sum(entry, from < to ? table.at(a, b) : table.at(b, a));
      }
    }
  }

  // Writes the node of a type; false where it has nothing to take.
  bool Close(int node) {
    const int type = out_.types[node];
    const int64_t copies = out_.copies[node];
    problem::NodeType written{problem_.types[type].name, {}};
    std::vector<int> fixed;
    for (size_t c = 0; c < times_[node].size(); ++c) {
      const Config& config = problem_.types[type].configs[c];
      written.configs.push_back(
          {.time = times_[node][c].value_or(Picoseconds(0)),
           .persistent_bytes =
               SaturatingMultiply(config.persistent_bytes, copies),
           .saved_bytes = SaturatingMultiply(config.saved_bytes, copies),
           .transient_bytes = config.transient_bytes});
      if (times_[node][c].has_value() && allowed_[node][c]) {
        fixed.push_back(static_cast<int>(c));
      }
    }
    if (fixed.empty()) return false;
    out_.problem.nodes.push_back({.type = node});
    out_.problem.types.push_back(std::move(written));
    out_.problem.fixed[node] = std::move(fixed);
    return true;
  }

  const PlanProblem& problem_;
  std::vector<std::optional<int>> node_of_;  // by type
  std::vector<std::vector<Time>> times_;     // by node and configuration
  std::vector<std::vector<bool>> allowed_;
  std::map<NodePair, Table> tables_;
  Uniform out_;
};

}  // namespace

std::optional<Uniform> MakeUniform(const PlanProblem& problem) {
  return Maker(problem).Make();
}

problem::Choice FromUniform(const PlanProblem& problem, const Uniform& uniform,
                            const problem::Choice& choice) {
  std::vector<int> config(problem.types.size(), 0);
  for (size_t n = 0; n < choice.size(); ++n) {
    config[uniform.types[n]] = choice[n][0];
  }
  problem::Choice full;
  for (const problem::Node& node : problem.nodes) {
    full.emplace_back(node.repeat, config[node.type]);
  }
  return full;
}

}  // namespace meshwright::search
