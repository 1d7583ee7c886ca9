#include "cli/text/plan_text.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/text/format.h"
#include "cli/text/json.h"
#include "cli/text/stages_text.h"
#include "cli/text/table.h"

namespace meshwright::cli {
namespace {

void DescribeArguments(const v1::Plan& plan, std::string* text) {
  std::map<std::string, std::map<std::string, int>> counts;
  for (const v1::PlanArgument& argument : plan.arguments()) {
    ++counts[argument.role()][argument.sharding()];
  }
  for (const auto& [role, shardings] : counts) {
    std::vector<std::string> parts;
    for (const auto& [sharding, count] : shardings) {
      parts.push_back(absl::StrCat(count, " ", sharding));
    }
    absl::StrAppend(text, "  ", role, ": ", absl::StrJoin(parts, ", "), "\n");
  }
}

// Per segment type, how many configurations were pruned and the best of them.
void DescribePruned(const v1::Plan& plan, std::vector<TableRow>* rows) {
  const auto excess = [](const v1::PlanPruned& it) {
    return it.estimate_seconds() * (1 - it.margin()) - it.rival_seconds() -
           it.resharding_seconds();
  };
  std::map<int, std::vector<const v1::PlanPruned*>> by_type;
  for (const v1::PlanPruned& it : plan.pruned()) {
    by_type[it.type()].push_back(&it);
  }
  for (const auto& [type, pruned] : by_type) {
    const v1::PlanPruned* best = *std::min_element(
        pruned.begin(), pruned.end(),
        [&](const auto* a, const auto* b) { return excess(*a) < excess(*b); });
    rows->push_back(
        {"pruned", absl::StrCat(pruned.size(), " of type ", type,
                                "; the best of them, \"", best->describe(),
                                "\": ", best->reason())});
  }
}

std::string DescribePrograms(const v1::Plan& plan) {
  const v1::PlanPrograms& programs = plan.programs();
  std::string text =
      absl::StrCat(programs.total(), " (", programs.distinct(), " distinct");
  if (programs.halves() > 0) {
    absl::StrAppend(&text, " and ", programs.halves(), " halves");
  }
  if (programs.estimated() > 0) {
    absl::StrAppend(&text, ": ", programs.estimated(), " estimated, ",
                    programs.cached(), " measured)");
  } else {
    absl::StrAppend(&text, ": ", programs.profiled(), " profiled, ",
                    programs.cached(), " cached, ", programs.pruned(),
                    " pruned, ", programs.failed(), " failed)");
  }
  return absl::StrCat(text, " in ", FormatSeconds(plan.seconds().total()));
}

std::vector<TableRow> DescribePrediction(const v1::Plan& plan) {
  const v1::PlanPrediction& predicted = plan.predicted();
  std::vector<TableRow> rows = {
      {"step",
       absl::StrCat(
           FormatSeconds(predicted.step_seconds()), " (compute ",
           FormatSeconds(predicted.compute_seconds()), ", communication ",
           FormatSeconds(predicted.communication_seconds()), ", resharding ",
           FormatSeconds(predicted.resharding_seconds()), ")")},
      {"lower bound", absl::StrFormat("%s, gap %.2f %%",
                                      FormatSeconds(plan.lower_bound_seconds()),
                                      plan.gap() * 100)}};
  if (predicted.interval_seconds_size() == 2) {
    rows.push_back(
        {"noise interval",
         absl::StrCat(FormatSeconds(predicted.interval_seconds(0)), " to ",
                      FormatSeconds(predicted.interval_seconds(1)))});
  }
  if (plan.has_tie()) {
    rows.push_back(
        {"tie", absl::StrCat("the fastest plan takes ",
                             FormatSeconds(plan.tie().fastest_seconds()),
                             "; of the plans within the noise of ",
                             FormatSeconds(plan.tie().noise_seconds()),
                             " this is the first in a fixed order")});
  }
  rows.push_back(
      {"peak memory",
       absl::StrCat(FormatBytes(predicted.peak_bytes()), " per device")});
  return rows;
}

}  // namespace

std::string PlanToJson(const v1::Plan& plan) {
  nlohmann::ordered_json json = ToJson(plan);
  if (!plan.feasible()) {
    for (const char* figure : {"predicted", "lower_bound_seconds", "gap"}) {
      json[figure] = nullptr;
    }
  }
  if (!plan.has_pipeline()) {
    for (const char* of_stages : {"stages", "boundaries", "pipeline"}) {
      json.erase(of_stages);
    }
  }
  return json.dump(2) + "\n";
}

std::string DescribePlan(const v1::Plan& plan) {
  std::string text =
      absl::StrFormat("%s on %s %s (%s)\n", plan.model().name(),
                      plan.has_pipeline() ? "cluster" : "mesh",
                      absl::StrJoin(plan.mesh(), "x"), plan.device());
  std::vector<TableRow> rows;
  if (plan.feasible()) {
    rows = DescribePrediction(plan);
  } else {
    absl::StrAppend(&text, "infeasible: the step needs at least ",
                    FormatBytes(plan.least_memory_bytes()),
                    " per device, but the limit is ",
                    FormatBytes(plan.limit_bytes()), "\n");
  }
  rows.push_back({"programs", DescribePrograms(plan)});
  DescribePruned(plan, &rows);
  absl::StrAppend(&text, FormatTable({{"", Align::kLeft}, {"", Align::kLeft}},
                                     rows, /*indent=*/2));
  DescribeStages(plan, &text);
  DescribeSegments("segments", plan.segments(), 0, &text);
  if (plan.arguments_size() > 0) absl::StrAppend(&text, "arguments\n");
  DescribeArguments(plan, &text);
  for (const std::string& note : plan.notes()) {
    absl::StrAppend(&text, "note: ", note, "\n");
  }
  return text;
}

}  // namespace meshwright::cli
