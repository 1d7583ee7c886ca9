#include "cli/text/difference_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/text/format.h"
#include "cli/text/json.h"
#include "cli/text/table.h"
#include "coordinator/explain/difference.h"

namespace meshwright::cli {
namespace {

constexpr int kMaxNames = 3;  // shown; --json has all

std::string FormatFigures(const v1::Plan& a, const v1::Plan& b) {
  // A baseline predicts nothing.
  const auto has_figures = [](const v1::Plan& plan) {
    return plan.feasible() && plan.has_predicted();
  };
  const bool both = has_figures(a) && has_figures(b);
  std::vector<TableRow> rows;
  const auto add = [&](const char* name, auto figure, auto format,
                       auto format_change) {
    const auto from = figure(a.predicted());
    const auto to = figure(b.predicted());
    rows.push_back({name, has_figures(a) ? format(from) : "-",
                    has_figures(b) ? format(to) : "-",
                    both ? format_change(to - from) : "-"});
  };
  using Predicted = v1::PlanPrediction;
  const auto add_seconds = [&](const char* name, auto figure) {
    add(name, figure, FormatSeconds, FormatChange);
  };
  add_seconds("step", [](const Predicted& it) { return it.step_seconds(); });
  add_seconds("compute",
              [](const Predicted& it) { return it.compute_seconds(); });
  add_seconds("communication",
              [](const Predicted& it) { return it.communication_seconds(); });
  add_seconds("resharding",
              [](const Predicted& it) { return it.resharding_seconds(); });
  add(
      "peak memory", [](const Predicted& it) { return it.peak_bytes(); },
      FormatBytes, FormatBytesChange);
  return FormatTable(
      {{"", Align::kLeft}, {"first"}, {"second"}, {"difference"}}, rows,
      /*indent=*/2);
}

void AppendSegments(const v1::PlanDifference& difference, std::string* text) {
  absl::StrAppend(text, "segments\n");
  const bool has_costs =
      std::all_of(difference.segments().begin(), difference.segments().end(),
                  [](const v1::SegmentChange& it) { return it.has_seconds(); });
  for (const v1::SegmentChange& it : difference.segments()) {
    absl::StrAppendFormat(text, "  %-7s type %d  ", FormatRanges(it.segments()),
                          it.type());
    if (it.a() == it.b()) {
      absl::StrAppend(text, it.a(),
                      has_costs && it.seconds() == 0
                          ? " (same configuration, other boundaries)\n"
                          : " (same configuration, other measurements)\n");
    } else {
      absl::StrAppend(text, it.a(), "  ->  ", it.b(), "\n");
    }
    if (!has_costs) continue;
    absl::StrAppend(
        text, "          ",
        FormatChange(it.seconds() + it.resharding_seconds()), " (compute ",
        FormatChange(it.seconds() - it.communication_seconds()),
        ", communication ", FormatChange(it.communication_seconds()),
        ", resharding ", FormatChange(it.resharding_seconds()), "), memory ",
        FormatBytesChange(it.memory_bytes()), "\n");
  }
  if (!has_costs) {
    absl::StrAppend(
        text,
        "  one of the plans holds no costs by segment, so the costs "
        "of the changes are not shown\n");
  }
}

void AppendArguments(
    const char* heading,
    const google::protobuf::RepeatedPtrField<v1::ArgumentChange>& changes,
    std::string* text) {
  if (changes.empty()) return;
  absl::StrAppend(text, heading, "\n");
  for (const v1::ArgumentChange& it : changes) {
    std::vector<std::string> names(
        it.names().begin(),
        it.names().begin() + std::min(it.names_size(), kMaxNames));
    if (it.names_size() > kMaxNames) names.push_back("...");
    absl::StrAppend(text, "  ", it.names_size(), " ", it.role(), " ", it.a(),
                    "  ->  ", it.b(), "  (", absl::StrJoin(names, ", "), ")\n");
  }
}

// "3-7 on 1x2, 41.0 ms, 2.1 GiB"; "-" where the plan has no such stage.
std::string DescribeStage(const v1::Plan& plan, int i) {
  if (i >= plan.stages_size()) return "-";
  const v1::PlanStage& stage = plan.stages(i);
  const int last = stage.first_segment() + stage.segments_size() - 1;
  return absl::StrCat(FormatRange(stage.first_segment(), last), " on ",
                      absl::StrJoin(stage.mesh(), "x"), ", ",
                      FormatSeconds(stage.predicted().step_seconds()), ", ",
                      FormatBytes(stage.predicted().peak_bytes()));
}

std::string DescribeSchedule(const v1::Plan& plan) {
  if (!plan.has_pipeline()) return "one mesh";
  return absl::StrFormat("%s of %d, bubble %.1f %%", plan.pipeline().schedule(),
                         plan.pipeline().micro_batches(),
                         100 * plan.pipeline().bubble());
}

// Schedules, and what every stage holds; nothing if neither has stages.
void AppendStagesDifference(const v1::Plan& a, const v1::Plan& b,
                            std::string* text) {
  if (!a.has_pipeline() && !b.has_pipeline()) return;
  absl::StrAppend(text, "schedule  ", DescribeSchedule(a), "  ->  ",
                  DescribeSchedule(b), "\n");
  absl::StrAppend(text, "stages (segments, mesh, busy, memory)\n");
  std::vector<TableRow> rows;
  for (int i = 0; i < std::max(a.stages_size(), b.stages_size()); ++i) {
    const std::string from = DescribeStage(a, i);
    const std::string to = DescribeStage(b, i);
    rows.push_back({absl::StrCat(i + 1), from, from == to ? "" : "->  " + to});
  }
  absl::StrAppend(
      text,
      FormatTable({{"", Align::kLeft}, {"", Align::kLeft}, {"", Align::kLeft}},
                  rows, /*indent=*/2));
}

}  // namespace

nlohmann::ordered_json DifferenceToJson(const v1::Plan& a, const v1::Plan& b) {
  return ToJson(explain::ComparePlans(a, b),
                {"pipeline", "stages", "seconds", "communication_seconds",
                 "resharding_seconds", "memory_bytes"});
}

std::string DescribeDifference(const v1::Plan& a, const v1::Plan& b) {
  const v1::PlanDifference difference = explain::ComparePlans(a, b);
  std::string text = FormatFigures(a, b);
  if (a.feasible() && b.feasible() && difference.noise_seconds() > 0) {
    absl::StrAppend(&text, "the steps differ by ",
                    difference.within_noise() ? "no more" : "more",
                    " than the noise of ",
                    FormatSeconds(difference.noise_seconds()), "\n");
  }
  AppendStagesDifference(a, b, &text);
  if (!difference.comparable()) {
    return absl::StrCat(
        text, "only the figures are compared: ", difference.reason(), "\n");
  }
  if (difference.segments().empty() && difference.arguments().empty()) {
    return absl::StrCat(text, "the plans shard everything in the same way\n");
  }
  AppendSegments(difference, &text);
  AppendArguments("arguments", difference.arguments(), &text);
  AppendArguments("outputs", difference.outputs(), &text);
  return text;
}

}  // namespace meshwright::cli
