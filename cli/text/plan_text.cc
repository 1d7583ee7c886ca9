#include "cli/text/plan_text.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/text/format.h"
#include "cli/text/json.h"
#include "cli/text/stages_text.h"
#include "cli/text/table.h"
#include "cli/text/tame.h"

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

template <typename Verdict>
std::map<int, std::vector<const Verdict*>> GroupByType(
    const google::protobuf::RepeatedPtrField<Verdict>& verdicts) {
  std::map<int, std::vector<const Verdict*>> by_type;
  for (const Verdict& it : verdicts) by_type[it.type()].push_back(&it);
  return by_type;
}

// Per segment type, how many configurations were excluded and the closest.
void DescribeExcluded(const v1::Plan& plan, std::vector<TableRow>* rows) {
  const auto excess = [](const v1::PlanExcluded& it) {
    return it.estimate_seconds() * (1 - it.margin()) - it.rival_seconds() -
           it.resharding_seconds();
  };
  for (const auto& [type, all] : GroupByType(plan.excluded())) {
    const v1::PlanExcluded* closest = *std::min_element(
        all.begin(), all.end(),
        [&](const auto* a, const auto* b) { return excess(*a) < excess(*b); });
    rows->push_back(
        {"excluded",
         absl::StrCat(all.size(), " of type ", type, "; the closest, \"",
                      closest->describe(), "\": ", closest->reason())});
  }
}

// Likewise, with the one that promises most.
void DescribeNotReached(const v1::Plan& plan, std::vector<TableRow>* rows) {
  const auto low = [](const v1::PlanNotReached& it) {
    return it.estimate_seconds() * (1 - it.margin());
  };
  for (const auto& [type, all] : GroupByType(plan.not_reached())) {
    const v1::PlanNotReached* best = *std::min_element(
        all.begin(), all.end(),
        [&](const auto* a, const auto* b) { return low(*a) < low(*b); });
    rows->push_back(
        {"not reached",
         absl::StrFormat("%d of type %d; the most promising, \"%s\", is "
                         "estimated at %s and may take %.1f %% less",
                         all.size(), type, best->describe(),
                         FormatSeconds(best->estimate_seconds()),
                         best->margin() * 100)});
  }
}

// The bound, and which configurations its certificate covers.
std::string DescribeBound(const v1::Plan& plan) {
  std::string text = absl::StrFormat("%s, gap %.2f %%",
                                     FormatSeconds(plan.lower_bound_seconds()),
                                     plan.gap() * 100);
  // A plan by roofline is over no measurement, one of stages over schedules.
  if (plan.has_pipeline() || plan.device() == "symbolic") return text;
  absl::StrAppend(&text, ", among measured configurations");
  if (plan.not_reached_size() == 0) return text;
  return absl::StrCat(text, "; configurations not reached (",
                      plan.not_reached_size(),
                      ") count at their estimates less their margins");
}

std::string DescribeNoise(const v1::Plan& plan) {
  std::vector<std::string> reasons;
  for (const int noise : plan.noise()) {
    switch (noise) {
      case v1::BUSY_MACHINE:
        reasons.push_back("others used the machine");
        break;
      case v1::FEW_SAMPLES:
        reasons.push_back("too few samples");
        break;
      case v1::MINIMUM_MET_ONCE:
      case v1::UNSTEADY:
        reasons.push_back("samples far apart");
        break;
      case v1::THROTTLED:
        reasons.push_back("heat or power held the clocks down");
        break;
      case v1::SLOW_PERIOD:
        reasons.push_back("the machine was slower than beside other rows");
        break;
      default:  // of a newer version
        break;
    }
  }
  return reasons.empty()
             ? ""
             : absl::StrCat(" (", absl::StrJoin(reasons, ", "), ")");
}

std::optional<std::string> DescribeQuality(const v1::Plan& plan) {
  constexpr absl::string_view kWayOut =
      "; `meshwright profiles remeasure PLAN` or planning again on a quiet "
      "machine measures them again";
  switch (plan.quality()) {
    case v1::GOOD:
      return "good";
    case v1::NOISY:
      return absl::StrCat(
          "noisy: rows of this plan vary more than on a quiet machine",
          DescribeNoise(plan), kWayOut);
    case v1::SUSPECT:
      return absl::StrCat(
          "suspect: rows of this plan disagree with other measurements of the "
          "same programs",
          kWayOut);
    default:
      return std::nullopt;
  }
}

std::string DescribePrograms(const v1::Plan& plan) {
  const v1::PlanPrograms& programs = plan.programs();
  std::string text =
      programs.estimated() > 0
          ? absl::StrCat(programs.estimated(), " estimated, ",
                         programs.cached(), " measured")
          : absl::StrCat(programs.profiled(), " profiled, ", programs.cached(),
                         " cached, ", programs.excluded(), " excluded, ",
                         programs.not_reached(), " not reached, ",
                         programs.failed(), " failed");
  absl::StrAppend(&text, " of ", programs.distinct(), " distinct");
  if (programs.halves() > 0) {
    absl::StrAppend(&text, " and ", programs.halves(), " halves");
  }
  if (programs.remeasured() > 0) {
    absl::StrAppend(&text, ", ", programs.remeasured(), " measured again");
  }
  return absl::StrCat(text, ", in ", FormatSeconds(plan.seconds().total()));
}

std::string DescribeMemory(const v1::Plan& plan) {
  std::string text =
      absl::StrCat(FormatBytes(plan.predicted().peak_bytes()), " per device");
  if (plan.limit_bytes() > 0) {
    absl::StrAppend(&text, "; of the limit of ",
                    FormatBytes(plan.limit_bytes()), ", ",
                    FormatBytes(plan.usable_bytes()),
                    " are planned with and the rest stays free");
  }
  return text;
}

std::vector<TableRow> DescribePrediction(const v1::Plan& plan) {
  const v1::PlanPrediction& predicted = plan.predicted();
  std::vector<TableRow> rows = {
      {"step",
       absl::StrCat(FormatSeconds(predicted.step_seconds()), " (compute ",
                    FormatSeconds(predicted.compute_seconds()),
                    ", communication ",
                    FormatSeconds(predicted.communication_seconds() -
                                  predicted.resharding_seconds()),
                    ", resharding ",
                    FormatSeconds(predicted.resharding_seconds()), ")")},
      {"lower bound", DescribeBound(plan)}};
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
  rows.push_back({"peak memory", DescribeMemory(plan)});
  if (const auto quality = DescribeQuality(plan)) {
    rows.push_back({"quality", *quality});
  }
  return rows;
}

}  // namespace

nlohmann::ordered_json PlanToJson(const v1::Plan& plan) {
  nlohmann::ordered_json json = ToJson(plan);
  if (plan.quality() == v1::QUALITY_UNSPECIFIED) json["quality"] = nullptr;
  if (!plan.feasible() || !plan.has_predicted()) {
    for (const char* figure : {"predicted", "lower_bound_seconds", "gap"}) {
      json[figure] = nullptr;
    }
  }
  if (!plan.has_pipeline()) {
    for (const char* of_stages : {"stages", "boundaries", "pipeline"}) {
      json.erase(of_stages);
    }
  }
  return json;
}

std::string PlanToJsonText(const v1::Plan& plan) {
  return PlanToJson(plan).dump(2) + "\n";
}

std::string PlanToJsonLine(const v1::Plan& plan, const std::string& id,
                           const std::string& file) {
  nlohmann::ordered_json line = {{"plan", id},
                                 {"feasible", plan.feasible()},
                                 {"fallback", plan.fallback()},
                                 {"step_seconds", nullptr},
                                 {"file", file}};
  if (plan.feasible() && plan.has_predicted()) {
    line["step_seconds"] = plan.predicted().step_seconds();
  }
  return line.dump(-1, ' ', /*ensure_ascii=*/false,
                   nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

std::string DescribePlan(const v1::Plan& plan) {
  std::string text =
      absl::StrFormat("%s on %s %s (%s)\n", Tame(plan.model().name()),
                      plan.has_pipeline() ? "cluster" : "mesh",
                      absl::StrJoin(plan.mesh(), "x"), Tame(plan.device()));
  std::vector<TableRow> rows;
  if (plan.feasible()) {
    if (plan.has_predicted()) rows = DescribePrediction(plan);
  } else {
    absl::StrAppend(&text, "infeasible: the smallest plan found needs ",
                    FormatBytes(plan.least_memory_bytes()),
                    " per device, but the limit is ",
                    FormatBytes(plan.limit_bytes()), "\n");
  }
  rows.push_back({"programs", DescribePrograms(plan)});
  DescribeExcluded(plan, &rows);
  DescribeNotReached(plan, &rows);
  absl::StrAppend(&text, FormatTable({{"", Align::kLeft}, {"", Align::kLeft}},
                                     rows, /*indent=*/2));
  DescribeStages(plan, &text);
  DescribeSegments("segments", plan.segments(), 0, &text);
  if (plan.arguments_size() > 0) absl::StrAppend(&text, "arguments\n");
  DescribeArguments(plan, &text);
  for (const std::string& note : plan.notes()) {
    absl::StrAppend(&text, "note: ", Tame(note), "\n");
  }
  return text;
}

std::string FormatModules(const std::string& output,
                          const std::vector<base::NamedFile>& files,
                          bool as_json) {
  const bool is_launch = files.size() > 1;
  if (as_json) {
    nlohmann::ordered_json report = {{"output", output}};
    if (is_launch) report["modules"] = files.size() - 1;
    size_t bytes = 0;
    for (const base::NamedFile& file : files) bytes += file.content.size();
    report["bytes"] = bytes;
    return report.dump(2) + "\n";
  }
  return is_launch ? absl::StrCat("wrote ", files.size() - 1, " modules and ",
                                  output, "/manifest.json\n")
                   : absl::StrCat("wrote ", output, "\n");
}

}  // namespace meshwright::cli
