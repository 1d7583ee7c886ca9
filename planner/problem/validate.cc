#include "planner/problem/validate.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "planner/problem/allowed.h"

namespace meshwright::problem {
namespace {

template <typename... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

absl::Status CheckIndex(int64_t index, size_t size, std::string_view field,
                        const char* what) {
  if (index >= 0 && index < static_cast<int64_t>(size)) return {};
  return Bad(std::string(field), " is ", index, ", but there are ", size, " ",
             what);
}

absl::Status CheckAmount(int64_t amount, int type, int config,
                         const char* field) {
  if (amount >= 0) return {};
  return Bad("types[", type, "].configs[", config, "].", field,
             " is negative: ", amount, "; give 0 or more");
}

absl::Status CheckNoise(const NoiseInterval& noise, Picoseconds time,
                        const std::string& field) {
  if (noise.below.count() >= 0 && noise.below <= time &&
      noise.above.count() >= 0 && noise.above <= kMaxTime - time) {
    return {};
  }
  return Bad(field, " is no interval around its time of at least 0 seconds");
}

absl::Status CheckTypes(const PlanProblem& problem) {
  for (size_t t = 0; t < problem.types.size(); ++t) {
    const std::vector<Config>& configs = problem.types[t].configs;
    if (configs.empty())
      return Bad("types[", t, "].configs is empty; give one at least");
    for (size_t c = 0; c < configs.size(); ++c) {
      const Config& config = configs[c];
      RETURN_IF_ERROR(CheckAmount(config.time.count(), t, c, "seconds"));
      RETURN_IF_ERROR(
          CheckAmount(config.persistent_bytes, t, c, "persistent_bytes"));
      RETURN_IF_ERROR(CheckAmount(config.saved_bytes, t, c, "saved_bytes"));
      RETURN_IF_ERROR(
          CheckAmount(config.transient_bytes, t, c, "transient_bytes"));
      if (config.time > kMaxTime) {
        return Bad("types[", t, "].configs[", c, "].seconds is too large");
      }
      if (config.noise == NoiseInterval()) continue;
      RETURN_IF_ERROR(CheckNoise(
          config.noise, config.time,
          absl::StrCat("types[", t, "].configs[", c, "].seconds_interval")));
    }
  }
  return {};
}

absl::Status CheckTables(const PlanProblem& problem) {
  for (size_t t = 0; t < problem.tables.size(); ++t) {
    const Table& table = problem.tables[t];
    if (table.rows <= 0 || table.columns <= 0 ||
        table.entries.size() !=
            static_cast<size_t>(table.rows) * table.columns) {
      return Bad("tables[", t, "] is not a full table of rows and columns");
    }
    for (size_t i = 0; i < table.entries.size(); ++i) {
      const auto& entry = table.entries[i];
      if (!entry.has_value()) continue;
      if (entry->count() >= 0 && *entry <= kMaxTime) continue;
      return Bad("tables[", t, "][", i / table.columns, "][", i % table.columns,
                 "] is ", entry->count() < 0 ? "negative" : "too large");
    }
    if (table.noise.empty()) continue;
    if (table.noise.size() != table.entries.size()) {
      return Bad("table_intervals[", t, "] has ", table.noise.size(),
                 " entries, but tables[", t, "] has ", table.entries.size());
    }
    for (size_t i = 0; i < table.noise.size(); ++i) {
      if (table.noise[i] == NoiseInterval()) continue;
      RETURN_IF_ERROR(CheckNoise(
          table.noise[i], table.entries[i].value_or(Picoseconds(0)),
          absl::StrCat("table_intervals[", t, "][", i / table.columns, "][",
                       i % table.columns, "]")));
    }
  }
  return {};
}

absl::Status CheckNodes(const PlanProblem& problem) {
  if (problem.nodes.empty()) return Bad("nodes is empty; give one at least");
  int64_t copies = 0;
  for (size_t n = 0; n < problem.nodes.size(); ++n) {
    const Node& node = problem.nodes[n];
    if (node.type < 0 || node.type >= static_cast<int>(problem.types.size())) {
      return CheckIndex(node.type, problem.types.size(),
                        absl::StrCat("nodes[", n, "].type"), "types");
    }
    if (node.repeat < 1) {
      return Bad("nodes[", n, "].repeat is ", node.repeat,
                 ", but a node has at least one copy");
    }
    copies = SaturatingAdd(copies, node.repeat);
    if (copies > kMaxCopies) {
      return Bad("nodes[", n, "].repeat brings the copies to more than the ",
                 kMaxCopies, " a plan can list");
    }
  }
  return {};
}

absl::Status CheckShape(const PlanProblem& problem, int table, int from, int to,
                        const std::string& field) {
  RETURN_IF_ERROR(CheckIndex(table, problem.tables.size(),
                             absl::StrCat(field, ".table"), "tables"));
  const size_t rows = problem.types[from].configs.size();
  const size_t columns = problem.types[to].configs.size();
  const Table& found = problem.tables[table];
  if (found.rows == static_cast<int>(rows) &&
      found.columns == static_cast<int>(columns)) {
    return {};
  }
  return Bad(field, ".table is tables[", table, "] of ", found.rows, " x ",
             found.columns, ", but the types it joins have ", rows, " and ",
             columns, " configs");
}

absl::Status CheckEdges(const PlanProblem& problem) {
  const std::vector<Node>& nodes = problem.nodes;
  for (size_t e = 0; e < problem.edges.size(); ++e) {
    const Edge& edge = problem.edges[e];
    const std::string field = absl::StrCat("edges[", e, "]");
    RETURN_IF_ERROR(CheckIndex(edge.from, nodes.size(),
                               absl::StrCat(field, ".from"), "nodes"));
    RETURN_IF_ERROR(
        CheckIndex(edge.to, nodes.size(), absl::StrCat(field, ".to"), "nodes"));
    RETURN_IF_ERROR(CheckShape(problem, edge.table, nodes[edge.from].type,
                               nodes[edge.to].type, field));
  }
  std::vector<bool> seen(problem.types.size(), false);
  for (size_t e = 0; e < problem.self_edges.size(); ++e) {
    const SelfEdge& edge = problem.self_edges[e];
    const std::string field = absl::StrCat("self_edges[", e, "]");
    RETURN_IF_ERROR(CheckIndex(edge.type, problem.types.size(),
                               absl::StrCat(field, ".type"), "types"));
    if (seen[edge.type]) {
      return Bad(field, ".type is ", edge.type,
                 ", which already has a self edge");
    }
    seen[edge.type] = true;
    RETURN_IF_ERROR(
        CheckShape(problem, edge.table, edge.type, edge.type, field));
  }
  return {};
}

absl::Status CheckWishes(const PlanProblem& problem,
                         const std::map<int, std::vector<int>>& wishes,
                         const char* name) {
  for (const auto& [node, named] : wishes) {
    RETURN_IF_ERROR(CheckIndex(node, problem.nodes.size(),
                               absl::StrCat("a key of ", name), "nodes"));
    const std::string field = absl::StrCat(name, "[", node, "]");
    const size_t configs =
        problem.types[problem.nodes[node].type].configs.size();
    for (const int config : named) {
      RETURN_IF_ERROR(
          CheckIndex(config, configs, "an entry of " + field, "configs"));
    }
    if (ListAllowedConfigs(problem, node).empty()) {
      return Bad(field, " allows no configuration of node ", node,
                 "; leave it one");
    }
  }
  return {};
}

// Removes nodes without incoming edges until none is left (Kahn).
absl::Status CheckAcyclic(const PlanProblem& problem) {
  const size_t size = problem.nodes.size();
  std::vector<int> incoming(size, 0);
  std::vector<int> begin(size + 1, 0);
  for (const Edge& edge : problem.edges) {
    ++incoming[edge.to];
    ++begin[edge.from + 1];
  }
  for (size_t n = 0; n < size; ++n) begin[n + 1] += begin[n];
  std::vector<int> targets(problem.edges.size());
  std::vector<int> next(begin.begin(), begin.end() - 1);
  for (const Edge& edge : problem.edges) targets[next[edge.from]++] = edge.to;
  std::vector<int> ready;
  for (size_t n = 0; n < size; ++n) {
    if (incoming[n] == 0) ready.push_back(n);
  }
  size_t removed = 0;
  while (!ready.empty()) {
    const int node = ready.back();
    ready.pop_back();
    ++removed;
    for (int i = begin[node]; i < begin[node + 1]; ++i) {
      if (--incoming[targets[i]] == 0) ready.push_back(targets[i]);
    }
  }
  if (removed == size) return {};
  const auto stuck = std::find_if(incoming.begin(), incoming.end(),
                                  [](int count) { return count > 0; });
  return Bad("edges has a cycle that reaches node ", stuck - incoming.begin(),
             "; leave out one of its edges");
}

}  // namespace

absl::Status Validate(const PlanProblem& problem) {
  RETURN_IF_ERROR(CheckTypes(problem));
  RETURN_IF_ERROR(CheckTables(problem));
  RETURN_IF_ERROR(CheckNodes(problem));
  RETURN_IF_ERROR(CheckEdges(problem));
  RETURN_IF_ERROR(CheckWishes(problem, problem.fixed, "fixed"));
  RETURN_IF_ERROR(CheckWishes(problem, problem.forbidden, "forbidden"));
  RETURN_IF_ERROR(CheckAcyclic(problem));
  if (problem.memory_limit_bytes.value_or(0) < 0) {
    return Bad("memory_limit_bytes is negative: ", *problem.memory_limit_bytes,
               "; leave it out for no limit");
  }
  if (!(problem.headroom_percent >= 0 && problem.headroom_percent < 100)) {
    return Bad("headroom_percent is ", problem.headroom_percent,
               ", but must be at least 0 and below 100");
  }
  return {};
}

absl::Status ValidateChoice(const PlanProblem& problem, const Choice& choice) {
  if (choice.size() != problem.nodes.size()) {
    return Bad("choice has ", choice.size(), " nodes, but the problem has ",
               problem.nodes.size());
  }
  for (size_t n = 0; n < choice.size(); ++n) {
    const Node& node = problem.nodes[n];
    const int configs = problem.types[node.type].configs.size();
    if (static_cast<int64_t>(choice[n].size()) != node.repeat) {
      return Bad("choice[", n, "] has ", choice[n].size(),
                 " copies, but the node has ", node.repeat);
    }
    const std::vector<int> allowed = ListAllowedConfigs(problem, n);
    for (const int config : choice[n]) {
      if (config < 0 || config >= configs) {
        return Bad("choice[", n, "] names configuration ", config, " of ",
                   configs);
      }
      if (!std::binary_search(allowed.begin(), allowed.end(), config)) {
        return Bad("choice[", n, "] names configuration ", config, ", which ",
                   problem.fixed.contains(n) ? "fixed" : "forbidden",
                   " does not allow");
      }
      if (node.tied && config != choice[n].front()) {
        return Bad("choice[", n, "] differs between copies of a tied node");
      }
    }
  }
  return {};
}

}  // namespace meshwright::problem
