#include "planner/problem/interval_json.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "planner/problem/json_fields.h"

namespace meshwright::problem {
namespace {

using nlohmann::json;

absl::Status WrongSize(const std::string& field, size_t size, size_t wanted) {
  return absl::InvalidArgumentError(
      absl::StrCat(field, " has ", size, " entries, but there are ", wanted));
}

absl::Status ReadTable(const json& rows, const std::string& field,
                       Table& table) {
  RETURN_IF_ERROR(CheckArray(rows, field));
  if (rows.size() != static_cast<size_t>(table.rows)) {
    return WrongSize(field, rows.size(), table.rows);
  }
  for (int r = 0; r < table.rows; ++r) {
    const std::string row_field = absl::StrCat(field, "[", r, "]");
    RETURN_IF_ERROR(CheckArray(rows[r], row_field));
    if (rows[r].size() != static_cast<size_t>(table.columns)) {
      return WrongSize(row_field, rows[r].size(), table.columns);
    }
    for (int c = 0; c < table.columns; ++c) {
      Spread& spread = table.spreads.emplace_back();
      if (rows[r][c].is_null()) continue;
      ASSIGN_OR_RETURN(
          spread,
          ReadInterval(rows[r][c], table.at(r, c).value_or(Picoseconds(0)),
                       absl::StrCat(row_field, "[", c, "]")));
    }
  }
  return {};
}

}  // namespace

absl::StatusOr<Spread> ReadInterval(const json& value, Picoseconds time,
                                    const std::string& field) {
  RETURN_IF_ERROR(CheckArray(value, field));
  if (value.size() != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, " has ", value.size(), " entries, not [lo, hi]"));
  }
  ASSIGN_OR_RETURN(const Picoseconds low, ReadSeconds(value[0], field + "[0]"));
  ASSIGN_OR_RETURN(const Picoseconds high,
                   ReadSeconds(value[1], field + "[1]"));
  if (low > time || high < time) {
    return absl::InvalidArgumentError(absl::StrCat(
        field, " does not hold its own time of ", ToSeconds(time), " seconds"));
  }
  return Spread{time - low, high - time};
}

json WriteInterval(Picoseconds time, const Spread& spread) {
  return {ToSeconds(time - spread.below), ToSeconds(time + spread.above)};
}

absl::Status ReadTableIntervals(const json& document, PlanProblem& problem) {
  const auto found = document.find("table_intervals");
  if (found == document.end()) return {};
  RETURN_IF_ERROR(CheckArray(*found, "table_intervals"));
  if (found->size() != problem.tables.size()) {
    return WrongSize("table_intervals", found->size(), problem.tables.size());
  }
  for (size_t t = 0; t < problem.tables.size(); ++t) {
    if ((*found)[t].is_null()) continue;
    RETURN_IF_ERROR(ReadTable((*found)[t],
                              absl::StrCat("table_intervals[", t, "]"),
                              problem.tables[t]));
  }
  return {};
}

void WriteTableIntervals(const PlanProblem& problem, json& document) {
  const auto is_exact = [](const Table& table) {
    return std::all_of(table.spreads.begin(), table.spreads.end(),
                       [](const Spread& it) { return it == Spread(); });
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
                          ? WriteInterval(*entry, table.SpreadAt(r, c))
                          : json());
      }
      rows.push_back(std::move(row));
    }
    intervals.back() = std::move(rows);
  }
}

}  // namespace meshwright::problem
