#include "planner/problem/problem_json.h"

#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "planner/problem/interval_json.h"
#include "planner/problem/json_fields.h"
#include "planner/problem/known_names.h"
#include "planner/problem/parse_json.h"
#include "planner/problem/validate.h"

namespace meshwright::problem {
namespace {

using nlohmann::json;

absl::StatusOr<int> ReadIndex(const json& object, const std::string& field,
                              const char* name) {
  ASSIGN_OR_RETURN(const json* value, Member(object, field, name));
  const std::string path = absl::StrCat(field, ".", name);
  ASSIGN_OR_RETURN(const int64_t index, ReadInteger(*value, path));
  if (index < 0 || index > std::numeric_limits<int>::max()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is ", index, ", which is no index"));
  }
  return static_cast<int>(index);
}

absl::StatusOr<int64_t> ReadBytes(const json& object, const std::string& field,
                                  const char* name) {
  ASSIGN_OR_RETURN(const json* value, Member(object, field, name));
  return ReadInteger(*value, absl::StrCat(field, ".", name));
}

// Calls read(element, "field[i]") for each element of a list; an optional list
// may be absent.
template <typename Read>
absl::Status ForEach(const json& document, const char* field, bool optional,
                     const Read& read) {
  if (optional && !document.contains(field)) return {};
  ASSIGN_OR_RETURN(const json* list, Member(document, "", field));
  RETURN_IF_ERROR(CheckArray(*list, field));
  for (size_t i = 0; i < list->size(); ++i) {
    RETURN_IF_ERROR(read((*list)[i], absl::StrCat(field, "[", i, "]")));
  }
  return {};
}

absl::StatusOr<Config> ReadConfig(const json& object,
                                  const std::string& field) {
  Config config;
  RETURN_IF_ERROR(CheckNames(object, field,
                             {"seconds", "persistent_bytes", "saved_bytes",
                              "transient_bytes", "seconds_interval"}));
  ASSIGN_OR_RETURN(const json* seconds, Member(object, field, "seconds"));
  ASSIGN_OR_RETURN(config.time, ReadSeconds(*seconds, field + ".seconds"));
  ASSIGN_OR_RETURN(config.persistent_bytes,
                   ReadBytes(object, field, "persistent_bytes"));
  ASSIGN_OR_RETURN(config.saved_bytes, ReadBytes(object, field, "saved_bytes"));
  ASSIGN_OR_RETURN(config.transient_bytes,
                   ReadBytes(object, field, "transient_bytes"));
  if (const auto interval = object.find("seconds_interval");
      interval != object.end()) {
    ASSIGN_OR_RETURN(config.spread, ReadInterval(*interval, config.time,
                                                 field + ".seconds_interval"));
  }
  return config;
}

absl::StatusOr<NodeType> ReadType(const json& object,
                                  const std::string& field) {
  NodeType type;
  RETURN_IF_ERROR(CheckNames(object, field, {"configs", "name"}));
  ASSIGN_OR_RETURN(const json* configs, Member(object, field, "configs"));
  if (const auto name = object.find("name"); name != object.end()) {
    if (!name->is_string()) {
      return absl::InvalidArgumentError(field + ".name is not a string");
    }
    type.name = name->get<std::string>();
  }
  RETURN_IF_ERROR(CheckArray(*configs, field + ".configs"));
  for (size_t c = 0; c < configs->size(); ++c) {
    ASSIGN_OR_RETURN(
        Config config,
        ReadConfig((*configs)[c], absl::StrCat(field, ".configs[", c, "]")));
    type.configs.push_back(config);
  }
  return type;
}

absl::StatusOr<Node> ReadNode(const json& object, const std::string& field) {
  Node node;
  RETURN_IF_ERROR(CheckNames(object, field, {"type", "repeat", "tied"}));
  ASSIGN_OR_RETURN(node.type, ReadIndex(object, field, "type"));
  if (const auto repeat = object.find("repeat"); repeat != object.end()) {
    ASSIGN_OR_RETURN(node.repeat, ReadInteger(*repeat, field + ".repeat"));
  }
  if (const auto tied = object.find("tied"); tied != object.end()) {
    ASSIGN_OR_RETURN(node.tied, ReadBool(*tied, field + ".tied"));
  }
  return node;
}

absl::StatusOr<Table> ReadTable(const json& rows, const std::string& field) {
  Table table;
  RETURN_IF_ERROR(CheckArray(rows, field));
  table.rows = rows.size();
  for (size_t r = 0; r < rows.size(); ++r) {
    const std::string row_field = absl::StrCat(field, "[", r, "]");
    RETURN_IF_ERROR(CheckArray(rows[r], row_field));
    if (r == 0) table.columns = rows[r].size();
    if (rows[r].size() != static_cast<size_t>(table.columns)) {
      return absl::InvalidArgumentError(
          absl::StrCat(row_field, " has ", rows[r].size(),
                       " entries, but the first row has ", table.columns));
    }
    for (size_t c = 0; c < rows[r].size(); ++c) {
      const json& value = rows[r][c];
      if (value.is_null()) {
        table.entries.push_back(std::nullopt);
        continue;
      }
      auto time = ReadSeconds(value, row_field);
      if (!time.ok()) {  // a name per entry would take longer than reading it
        time = ReadSeconds(value, absl::StrCat(row_field, "[", c, "]"));
      }
      RETURN_IF_ERROR(time.status());
      table.entries.push_back(*time);
    }
  }
  return table;
}

// Lists of configurations by node.
absl::Status ReadWishes(const json& document, const char* name,
                        std::map<int, std::vector<int>>& wishes) {
  const auto fixed = document.find(name);
  if (fixed == document.end()) return {};
  if (!fixed->is_object()) {
    return absl::InvalidArgumentError(absl::StrCat(name, " is not an object"));
  }
  for (const auto& [key, allowed] : fixed->items()) {
    int node = 0;
    if (!absl::SimpleAtoi(key, &node)) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " has the key '", key, "', which is no node"));
    }
    const std::string field = absl::StrCat(name, "[", node, "]");
    RETURN_IF_ERROR(CheckArray(allowed, field));
    std::vector<int>& list = wishes[node];
    for (size_t i = 0; i < allowed.size(); ++i) {
      const std::string entry = absl::StrCat(field, "[", i, "]");
      ASSIGN_OR_RETURN(const int64_t config, ReadInteger(allowed[i], entry));
      if (config < 0 || config > std::numeric_limits<int>::max()) {
        return absl::InvalidArgumentError(
            absl::StrCat(entry, " is ", config, ", which is no configuration"));
      }
      list.push_back(static_cast<int>(config));
    }
  }
  return {};
}

absl::StatusOr<PlanProblem> Read(const json& document) {
  PlanProblem problem;
  RETURN_IF_ERROR(CheckNames(
      document, "",
      {"types", "nodes", "edges", "self_edges", "tables", "table_intervals",
       "memory_limit_bytes", "headroom_percent", "fixed", "forbidden"}));
  RETURN_IF_ERROR(ForEach(document, "types", false,
                          [&](const json& value, const std::string& field) {
                            auto type = ReadType(value, field);
                            if (type.ok()) problem.types.push_back(*type);
                            return type.status();
                          }));
  RETURN_IF_ERROR(ForEach(document, "nodes", false,
                          [&](const json& value, const std::string& field) {
                            auto node = ReadNode(value, field);
                            if (node.ok()) problem.nodes.push_back(*node);
                            return node.status();
                          }));
  RETURN_IF_ERROR(
      ForEach(document, "edges", false,
              [&](const json& value, const std::string& field) -> absl::Status {
                Edge edge;
                ASSIGN_OR_RETURN(edge.from, ReadIndex(value, field, "from"));
                ASSIGN_OR_RETURN(edge.to, ReadIndex(value, field, "to"));
                ASSIGN_OR_RETURN(edge.table, ReadIndex(value, field, "table"));
                problem.edges.push_back(edge);
                return {};
              }));
  RETURN_IF_ERROR(
      ForEach(document, "self_edges", true,
              [&](const json& value, const std::string& field) -> absl::Status {
                SelfEdge edge;
                ASSIGN_OR_RETURN(edge.type, ReadIndex(value, field, "type"));
                ASSIGN_OR_RETURN(edge.table, ReadIndex(value, field, "table"));
                problem.self_edges.push_back(edge);
                return {};
              }));
  RETURN_IF_ERROR(ForEach(document, "tables",
                          problem.edges.empty() && problem.self_edges.empty(),
                          [&](const json& value, const std::string& field) {
                            auto table = ReadTable(value, field);
                            if (table.ok())
                              problem.tables.push_back(*std::move(table));
                            return table.status();
                          }));
  RETURN_IF_ERROR(ReadTableIntervals(document, problem));
  if (const auto limit = document.find("memory_limit_bytes");
      limit != document.end() && !limit->is_null()) {
    ASSIGN_OR_RETURN(problem.memory_limit_bytes,
                     ReadInteger(*limit, "memory_limit_bytes"));
  }
  if (const auto headroom = document.find("headroom_percent");
      headroom != document.end()) {
    if (!headroom->is_number()) {
      return absl::InvalidArgumentError("headroom_percent is not a number");
    }
    problem.headroom_percent = headroom->get<double>();
  }
  RETURN_IF_ERROR(ReadWishes(document, "fixed", problem.fixed));
  RETURN_IF_ERROR(ReadWishes(document, "forbidden", problem.forbidden));
  return problem;
}

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

}  // namespace

absl::StatusOr<PlanProblem> ProblemFromJson(std::string_view text) {
  ASSIGN_OR_RETURN(const json document, ParseJson(text));
  ASSIGN_OR_RETURN(PlanProblem problem, Read(document));
  RETURN_IF_ERROR(Validate(problem));
  return problem;
}

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
      if (config.spread == Spread()) continue;
      configs.back()["seconds_interval"] =
          WriteInterval(config.time, config.spread);
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
