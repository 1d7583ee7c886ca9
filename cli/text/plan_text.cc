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

// Per segment type how many were left out, and the nearest of them.
void DescribePruned(const v1::Plan& plan, std::string* text) {
  const auto excess = [](const v1::PlanPruned& it) {
    return it.estimate_seconds() * (1 - it.margin()) - it.rival_seconds() -
           it.resharding_seconds();
  };
  std::map<int, std::vector<const v1::PlanPruned*>> by_type;
  for (const v1::PlanPruned& it : plan.pruned()) {
    by_type[it.type()].push_back(&it);
  }
  for (const auto& [type, pruned] : by_type) {
    const v1::PlanPruned* nearest = *std::min_element(
        pruned.begin(), pruned.end(),
        [&](const auto* a, const auto* b) { return excess(*a) < excess(*b); });
    absl::StrAppend(text, "  pruned  ", pruned.size(), " of type ", type,
                    "; the nearest, \"", nearest->describe(),
                    "\": ", nearest->reason(), "\n");
  }
}

void AppendCounts(const v1::Plan& plan, std::string* text) {
  const v1::PlanPrograms& programs = plan.programs();
  absl::StrAppend(text, ": ", programs.profiled(), " profiled, ",
                  programs.cached(), " cached, ", programs.pruned(),
                  " pruned, ", programs.failed(), " failed) in ",
                  FormatSeconds(plan.seconds().total()), "\n");
}

}  // namespace

std::string PlanJson(const v1::Plan& plan) {
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
  if (!plan.feasible()) {
    absl::StrAppend(&text, "infeasible: it needs at least ",
                    FormatBytes(plan.least_memory_bytes()),
                    " per device, the limit is ",
                    FormatBytes(plan.limit_bytes()), "\n");
  } else {
    const v1::PlanPrediction& predicted = plan.predicted();
    absl::StrAppend(
        &text, "  step    ", FormatSeconds(predicted.step_seconds()),
        " (compute ", FormatSeconds(predicted.compute_seconds()),
        ", communication ", FormatSeconds(predicted.communication_seconds()),
        ", resharding ", FormatSeconds(predicted.resharding_seconds()), ")\n");
    absl::StrAppend(&text, "  bound   ",
                    FormatSeconds(plan.lower_bound_seconds()),
                    absl::StrFormat(", gap %.2f %%\n", plan.gap() * 100));
    if (predicted.interval_seconds_size() == 2) {
      absl::StrAppend(&text, "  if measured again ",
                      FormatSeconds(predicted.interval_seconds(0)), " to ",
                      FormatSeconds(predicted.interval_seconds(1)), "\n");
    }
    if (plan.has_tie()) {
      absl::StrAppend(&text, "  tie     the fastest takes ",
                      FormatSeconds(plan.tie().fastest_seconds()),
                      "; within the noise of ",
                      FormatSeconds(plan.tie().noise_seconds()),
                      " the first plan in a fixed order is taken\n");
    }
    absl::StrAppend(&text, "  memory  ", FormatBytes(predicted.peak_bytes()),
                    " per device at the peak\n");
  }
  const v1::PlanPrograms& programs = plan.programs();
  absl::StrAppend(&text, "  programs ", programs.total(), " (",
                  programs.distinct(), " distinct");
  if (programs.halves() > 0) {
    absl::StrAppend(&text, " and ", programs.halves(), " halves");
  }
  if (programs.estimated() > 0) {
    absl::StrAppend(&text, ": ", programs.estimated(), " estimated, ",
                    programs.cached(), " measured) in ",
                    FormatSeconds(plan.seconds().total()), "\n");
  } else {
    AppendCounts(plan, &text);
  }
  DescribePruned(plan, &text);
  DescribeStages(plan, &text);
  if (plan.segments_size() > 0) absl::StrAppend(&text, "segments\n");
  DescribeSegments(plan.segments(), 0, &text);
  if (plan.arguments_size() > 0) absl::StrAppend(&text, "arguments\n");
  DescribeArguments(plan, &text);
  for (const std::string& note : plan.notes()) {
    absl::StrAppend(&text, "note: ", note, "\n");
  }
  return text;
}

}  // namespace meshwright::cli
