#include "planner/problem/problem_json.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/json/read_json.h"
#include "base/status_macros.h"
#include "planner/problem/duration_json.h"
#include "planner/problem/validate.h"

namespace meshwright::problem {
namespace {

void FailAsOfSize(const base::JsonValue& list, size_t wanted) {
  list.Fail(absl::StrCat("has ", list.CountElements(),
                         " entries, but there are ", wanted));
}

// [lo, hi] in seconds, around `time`.
void ReadInterval(const base::JsonValue& value, Picoseconds time,
                  NoiseInterval& noise) {
  std::vector<Picoseconds> ends;
  base::ReadJsonValue(value, ends);
  if (value.HasFailed()) return;
  if (ends.size() != 2) {
    return value.Fail(
        absl::StrCat("has ", ends.size(), " entries, not [lo, hi]"));
  }
  if (ends[0] > time || ends[1] < time) {
    return value.Fail(absl::StrCat("does not hold its own time of ",
                                   ToSeconds(time), " seconds"));
  }
  noise = {time - ends[0], ends[1] - time};
}

void ReadTable(const base::JsonValue& rows, Table& table) {
  table.rows = static_cast<int>(rows.CountElements());
  bool is_first = true;
  rows.ForEach([&](const base::JsonValue& row) {
    const size_t columns = row.CountElements();
    if (is_first) table.columns = static_cast<int>(columns);
    is_first = false;
    if (columns != static_cast<size_t>(table.columns)) {
      return row.Fail(absl::StrCat(
          "has ", columns, " entries, but the first row has ", table.columns));
    }
    row.ForEach([&](const base::JsonValue& entry) {
      base::ReadJsonValue(entry, table.entries.emplace_back());
    });
  });
}

// Of the intervals of `table`, which has been read; null: exact.
void ReadTableIntervals(const base::JsonValue& rows, Table& table) {
  if (rows.IsNull()) return;
  if (rows.CountElements() != static_cast<size_t>(table.rows)) {
    return FailAsOfSize(rows, table.rows);
  }
  rows.ForEach([&](const base::JsonValue& row) {
    if (row.CountElements() != static_cast<size_t>(table.columns)) {
      return FailAsOfSize(row, table.columns);
    }
    row.ForEach([&](const base::JsonValue& entry) {
      const auto& time = table.entries[table.noise.size()];
      NoiseInterval& noise = table.noise.emplace_back();
      if (entry.IsNull()) return;
      ReadInterval(entry, time.value_or(Picoseconds(0)), noise);
    });
  });
}

// Lists of configurations by node.
void ReadWishes(const base::JsonValue& value,
                std::map<int, std::vector<int>>& wishes) {
  value.ForEachMember(
      [&](const std::string& key, const base::JsonValue& configs) {
        int node = 0;
        if (!absl::SimpleAtoi(key, &node)) {
          return value.Fail(
              absl::StrCat("has the key '", key, "', which is no node"));
        }
        base::ReadJsonValue(configs, wishes[node]);
      });
}

}  // namespace

void Describe(base::JsonFields& it, Config& config) {
  it.Required("seconds", config.time);
  it.Required("persistent_bytes", config.persistent_bytes);
  it.Required("saved_bytes", config.saved_bytes);
  it.Required("transient_bytes", config.transient_bytes);
  it.Optional("seconds_interval", [&](const base::JsonValue& value) {
    ReadInterval(value, config.time, config.noise);
  });
}

void Describe(base::JsonFields& it, NodeType& type) {
  it.Required("configs", type.configs);
  it.Optional("name", type.name);
}

void Describe(base::JsonFields& it, Node& node) {
  it.Required("type", node.type);
  it.Optional("repeat", node.repeat);
  it.Optional("tied", node.tied);
}

void Describe(base::JsonFields& it, Edge& edge) {
  it.Required("from", edge.from);
  it.Required("to", edge.to);
  it.Required("table", edge.table);
}

void Describe(base::JsonFields& it, SelfEdge& edge) {
  it.Required("type", edge.type);
  it.Required("table", edge.table);
}

void Describe(base::JsonFields& it, PlanProblem& problem) {
  it.Required("types", problem.types);
  it.Required("nodes", problem.nodes);
  it.Required("edges", problem.edges);
  it.Optional("self_edges", problem.self_edges);
  const auto read_tables = [&](const base::JsonValue& list) {
    list.ForEach([&](const base::JsonValue& rows) {
      ReadTable(rows, problem.tables.emplace_back());
    });
  };
  if (problem.edges.empty() && problem.self_edges.empty()) {
    it.Optional("tables", read_tables);
  } else {
    it.Required("tables", read_tables);
  }
  it.Optional("table_intervals", [&](const base::JsonValue& list) {
    if (list.CountElements() != problem.tables.size()) {
      return FailAsOfSize(list, problem.tables.size());
    }
    auto table = problem.tables.begin();
    list.ForEach([&](const base::JsonValue& rows) {
      ReadTableIntervals(rows, *table++);
    });
  });
  it.Optional("memory_limit_bytes", problem.memory_limit_bytes);
  it.Optional("headroom_percent", problem.headroom_percent);
  it.Optional("fixed", [&](const base::JsonValue& value) {
    ReadWishes(value, problem.fixed);
  });
  it.Optional("forbidden", [&](const base::JsonValue& value) {
    ReadWishes(value, problem.forbidden);
  });
}

absl::StatusOr<PlanProblem> ProblemFromJson(std::string_view text) {
  PlanProblem problem;
  RETURN_IF_ERROR(base::ReadJson(text, problem));
  RETURN_IF_ERROR(Validate(problem));
  return problem;
}

}  // namespace meshwright::problem
