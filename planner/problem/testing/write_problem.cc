#include "planner/problem/testing/write_problem.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace meshwright::problem {
namespace {

using nlohmann::json;

json WriteTable(const Table& table) {
  json rows = json::array();
  for (int r = 0; r < table.rows; ++r) {
    json row = json::array();
    for (int c = 0; c < table.columns; ++c) {
      const auto& entry = table.at(r, c);
      row.push_back(entry.has_value() ? json(ToSeconds(*entry)) : json());
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

json WriteInterval(Picoseconds time, const NoiseInterval& noise) {
  return {ToSeconds(time - noise.below), ToSeconds(time + noise.above)};
}

// Nothing where every entry is exact.
void WriteTableIntervals(const PlanProblem& problem, json& document) {
  const auto is_exact = [](const Table& table) {
    return std::all_of(
        table.noise.begin(), table.noise.end(),
        [](const NoiseInterval& it) { return it == NoiseInterval(); });
  };
  if (std::all_of(problem.tables.begin(), problem.tables.end(), is_exact)) {
    return;
  }
  json& intervals = document["table_intervals"] = json::array();
  for (const Table& table : problem.tables) {
    intervals.push_back(nullptr);
    if (is_exact(table)) continue;
    json rows = json::array();
    for (int r = 0; r < table.rows; ++r) {
      json row = json::array();
      for (int c = 0; c < table.columns; ++c) {
        const auto& entry = table.at(r, c);
        row.push_back(entry.has_value()
                          ? WriteInterval(*entry, table.NoiseAt(r, c))
                          : json());
      }
      rows.push_back(std::move(row));
    }
    intervals.back() = std::move(rows);
  }
}

}  // namespace

std::string ProblemToJson(const PlanProblem& problem) {
  json document = {{"types", json::array()},
                   {"nodes", json::array()},
                   {"edges", json::array()},
                   {"tables", json::array()}};
  for (const NodeType& type : problem.types) {
    json configs = json::array();
    for (const Config& config : type.configs) {
      configs.push_back({{"seconds", ToSeconds(config.time)},
                         {"persistent_bytes", config.persistent_bytes},
                         {"saved_bytes", config.saved_bytes},
                         {"transient_bytes", config.transient_bytes}});
      if (config.noise == NoiseInterval()) continue;
      configs.back()["seconds_interval"] =
          WriteInterval(config.time, config.noise);
    }
    document["types"].push_back({{"name", type.name}, {"configs", configs}});
  }
  for (const Node& node : problem.nodes) {
    json written = {{"type", node.type}, {"repeat", node.repeat}};
    if (node.tied) written["tied"] = true;
    document["nodes"].push_back(std::move(written));
  }
  for (const Edge& edge : problem.edges) {
    document["edges"].push_back(
        {{"from", edge.from}, {"to", edge.to}, {"table", edge.table}});
  }
  for (const SelfEdge& edge : problem.self_edges) {
    document["self_edges"].push_back(
        {{"type", edge.type}, {"table", edge.table}});
  }
  for (const Table& table : problem.tables) {
    document["tables"].push_back(WriteTable(table));
  }
  WriteTableIntervals(problem, document);
  if (problem.memory_limit_bytes.has_value()) {
    document["memory_limit_bytes"] = *problem.memory_limit_bytes;
  }
  if (problem.headroom_percent != 0) {
    document["headroom_percent"] = problem.headroom_percent;
  }
  for (const auto& [node, allowed] : problem.fixed) {
    document["fixed"][absl::StrCat(node)] = allowed;
  }
  for (const auto& [node, configs] : problem.forbidden) {
    document["forbidden"][absl::StrCat(node)] = configs;
  }
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace meshwright::problem
