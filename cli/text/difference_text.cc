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

using explain::ArgumentChange;
using explain::PlanDifference;
using explain::SegmentChange;
using nlohmann::ordered_json;

constexpr size_t kMaxNames = 3;  // shown; --json has all

std::string FormatFigures(const v1::Plan& a, const v1::Plan& b) {
  const bool both = a.feasible() && b.feasible();
  std::vector<TableRow> rows;
  const auto add = [&](const char* name, auto figure, auto format,
                       auto format_change) {
    const auto from = figure(a.predicted());
    const auto to = figure(b.predicted());
    rows.push_back({name, a.feasible() ? format(from) : "-",
                    b.feasible() ? format(to) : "-",
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

void AppendSegments(const PlanDifference& difference, std::string* text) {
  absl::StrAppend(text, "segments\n");
  for (const SegmentChange& it : difference.segments) {
    absl::StrAppendFormat(text, "  %-7s type %d  ", FormatRanges(it.segments),
                          it.type);
    if (it.a == it.b) {
      absl::StrAppend(text, it.a,
                      it.seconds == 0
                          ? " (same configuration, other boundaries)\n"
                          : " (same configuration, other measurements)\n");
    } else {
      absl::StrAppend(text, it.a, "  ->  ", it.b, "\n");
    }
    if (!difference.has_costs) continue;
    absl::StrAppend(
        text, "          ", FormatChange(it.seconds + it.resharding_seconds),
        " (compute ", FormatChange(it.seconds - it.communication_seconds),
        ", communication ", FormatChange(it.communication_seconds),
        ", resharding ", FormatChange(it.resharding_seconds), "), memory ",
        FormatBytesChange(it.memory_bytes), "\n");
  }
  if (!difference.has_costs) {
    absl::StrAppend(
        text,
        "  one of the plans holds no costs by segment, so the costs "
        "of the changes are not shown\n");
  }
}

void AppendArguments(const char* heading,
                     const std::vector<ArgumentChange>& changes,
                     std::string* text) {
  if (changes.empty()) return;
  absl::StrAppend(text, heading, "\n");
  for (const ArgumentChange& it : changes) {
    std::vector<std::string> names(
        it.names.begin(),
        it.names.begin() + std::min(it.names.size(), kMaxNames));
    if (it.names.size() > kMaxNames) names.push_back("...");
    absl::StrAppend(text, "  ", it.names.size(), " ", it.role, " ", it.a,
                    "  ->  ", it.b, "  (", absl::StrJoin(names, ", "), ")\n");
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

// `pipeline` and `stages` of one of the plans, if it has any.
void AddStagesJson(const v1::Plan& plan, nlohmann::ordered_json* figures) {
  if (!plan.has_pipeline()) return;
  const v1::PlanPipeline& pipeline = plan.pipeline();
  (*figures)["pipeline"] = {{"schedule", pipeline.schedule()},
                            {"micro_batches", pipeline.micro_batches()},
                            {"bubble", pipeline.bubble()}};
  auto stages = nlohmann::ordered_json::array();
  for (const v1::PlanStage& it : plan.stages()) {
    stages.push_back(
        {{"first_segment", it.first_segment()},
         {"segments", it.segments_size()},
         {"mesh", std::vector<int64_t>(it.mesh().begin(), it.mesh().end())},
         {"step_seconds", it.predicted().step_seconds()},
         {"peak_bytes", it.predicted().peak_bytes()}});
  }
  (*figures)["stages"] = std::move(stages);
}

ordered_json FiguresOf(const v1::Plan& plan) {
  ordered_json figures;
  figures["model"] = plan.model().name();
  figures["mesh"] =
      std::vector<int64_t>(plan.mesh().begin(), plan.mesh().end());
  figures["device"] = plan.device();
  figures["feasible"] = plan.feasible();
  figures["limit_bytes"] = plan.limit_bytes();
  figures["predicted"] = nullptr;
  if (plan.feasible()) figures["predicted"] = ToJson(plan.predicted());
  AddStagesJson(plan, &figures);
  return figures;
}

ordered_json ArgumentsJson(const std::vector<ArgumentChange>& changes) {
  ordered_json list = ordered_json::array();
  for (const ArgumentChange& it : changes) {
    list.push_back(
        {{"role", it.role}, {"a", it.a}, {"b", it.b}, {"names", it.names}});
  }
  return list;
}

}  // namespace

ordered_json DifferenceToJson(const v1::Plan& a, const v1::Plan& b) {
  const PlanDifference difference = explain::ComparePlans(a, b);
  ordered_json json;
  json["a"] = FiguresOf(a);
  json["b"] = FiguresOf(b);
  json["step_seconds"] = nullptr;
  json["peak_bytes"] = nullptr;
  json["noise_seconds"] = nullptr;
  json["within_noise"] = nullptr;
  if (a.feasible() && b.feasible()) {
    json["step_seconds"] =
        b.predicted().step_seconds() - a.predicted().step_seconds();
    json["peak_bytes"] =
        b.predicted().peak_bytes() - a.predicted().peak_bytes();
    json["noise_seconds"] = difference.noise_seconds;
    json["within_noise"] = difference.within_noise;
  }
  json["comparable"] = difference.reason.empty();
  json["reason"] = difference.reason;
  json["segments"] = ordered_json::array();
  for (const SegmentChange& it : difference.segments) {
    ordered_json change = {
        {"type", it.type}, {"a", it.a}, {"b", it.b}, {"segments", it.segments}};
    if (difference.has_costs) {
      change["seconds"] = it.seconds;
      change["communication_seconds"] = it.communication_seconds;
      change["resharding_seconds"] = it.resharding_seconds;
      change["memory_bytes"] = it.memory_bytes;
    }
    json["segments"].push_back(std::move(change));
  }
  json["arguments"] = ArgumentsJson(difference.arguments);
  json["outputs"] = ArgumentsJson(difference.outputs);
  return json;
}

std::string DescribeDifference(const v1::Plan& a, const v1::Plan& b) {
  const PlanDifference difference = explain::ComparePlans(a, b);
  std::string text = FormatFigures(a, b);
  if (a.feasible() && b.feasible() && difference.noise_seconds > 0) {
    absl::StrAppend(&text, "the steps differ by ",
                    difference.within_noise ? "no more" : "more",
                    " than the noise of ",
                    FormatSeconds(difference.noise_seconds), "\n");
  }
  AppendStagesDifference(a, b, &text);
  if (!difference.reason.empty()) {
    return absl::StrCat(
        text, "only the figures are compared: ", difference.reason, "\n");
  }
  if (difference.segments.empty() && difference.arguments.empty()) {
    return absl::StrCat(text, "the plans shard everything in the same way\n");
  }
  AppendSegments(difference, &text);
  AppendArguments("arguments", difference.arguments, &text);
  AppendArguments("outputs", difference.outputs, &text);
  return text;
}

}  // namespace meshwright::cli
