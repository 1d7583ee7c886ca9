#include "cli/text/difference_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/text/format.h"
#include "cli/text/json.h"

namespace meshwright::cli {
namespace {

using explain::ArgumentChange;
using explain::PlanDifference;
using explain::SegmentChange;
using nlohmann::ordered_json;

constexpr size_t kMostNames = 3;  // shown; --json has all

void AppendFigure(const char* name, const std::string& a, const std::string& b,
                  const std::string& change, std::string* text) {
  absl::StrAppendFormat(text, "  %-14s %12s %12s %12s\n", name, a, b, change);
}

void AppendFigures(const v1::Plan& a, const v1::Plan& b, std::string* text) {
  const auto seconds = [&](const char* name, auto figure) {
    const double from = figure(a.predicted());
    const double to = figure(b.predicted());
    AppendFigure(name, a.feasible() ? FormatSeconds(from) : "-",
                 b.feasible() ? FormatSeconds(to) : "-",
                 a.feasible() && b.feasible() ? FormatChange(to - from) : "-",
                 text);
  };
  using Predicted = v1::PlanPrediction;
  seconds("step", [](const Predicted& it) { return it.step_seconds(); });
  seconds("compute", [](const Predicted& it) { return it.compute_seconds(); });
  seconds("communication",
          [](const Predicted& it) { return it.communication_seconds(); });
  seconds("resharding",
          [](const Predicted& it) { return it.resharding_seconds(); });
  const int64_t from = a.predicted().peak_bytes();
  const int64_t to = b.predicted().peak_bytes();
  AppendFigure(
      "memory", a.feasible() ? FormatBytes(from) : "-",
      b.feasible() ? FormatBytes(to) : "-",
      a.feasible() && b.feasible() ? FormatBytesChange(to - from) : "-", text);
}

void AppendSegments(const PlanDifference& difference, std::string* text) {
  absl::StrAppend(text, "segments\n");
  for (const SegmentChange& it : difference.segments) {
    absl::StrAppendFormat(text, "  %-7s type %d  ", FormatRanges(it.segments),
                          it.type);
    if (it.a == it.b) {
      absl::StrAppend(text, it.a,
                      it.seconds == 0 ? " (as before, at other borders)\n"
                                      : " (as before, measured otherwise)\n");
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
    absl::StrAppend(text,
                    "  what each costs is not in a plan of this version; plan "
                    "again to see it\n");
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
        it.names.begin() + std::min(it.names.size(), kMostNames));
    if (it.names.size() > kMostNames) names.push_back("...");
    absl::StrAppend(text, "  ", it.names.size(), " ", it.role, " ", it.a,
                    "  ->  ", it.b, "  (", absl::StrJoin(names, ", "), ")\n");
  }
}

// "3-7 on 1x2, 41.0 ms, 2.1 GiB"; "-" where the plan has no such stage.
std::string Stage(const v1::Plan& plan, int i) {
  if (i >= plan.stages_size()) return "-";
  const v1::PlanStage& stage = plan.stages(i);
  const int last = stage.first_segment() + stage.segments_size() - 1;
  return absl::StrCat(Range(stage.first_segment(), last), " on ",
                      absl::StrJoin(stage.mesh(), "x"), ", ",
                      FormatSeconds(stage.predicted().step_seconds()), ", ",
                      FormatBytes(stage.predicted().peak_bytes()));
}

std::string Pipeline(const v1::Plan& plan) {
  if (!plan.has_pipeline()) return "one mesh";
  return absl::StrFormat("%s of %d, bubble %.1f %%", plan.pipeline().schedule(),
                         plan.pipeline().micro_batches(),
                         100 * plan.pipeline().bubble());
}

// Schedules, and what every stage holds; nothing if neither has stages.
void AppendStagesDifference(const v1::Plan& a, const v1::Plan& b,
                            std::string* text) {
  if (!a.has_pipeline() && !b.has_pipeline()) return;
  absl::StrAppend(text, "schedule  ", Pipeline(a), "  ->  ", Pipeline(b), "\n");
  absl::StrAppend(text, "stages (segments, mesh, busy, memory)\n");
  const int stages = std::max(a.stages_size(), b.stages_size());
  for (int i = 0; i < stages; ++i) {
    const std::string from = Stage(a, i);
    const std::string to = Stage(b, i);
    absl::StrAppend(text, "  ", i + 1, "  ", from);
    if (from != to) absl::StrAppend(text, "  ->  ", to);
    absl::StrAppend(text, "\n");
  }
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

ordered_json DifferenceJson(const v1::Plan& a, const v1::Plan& b,
                            const PlanDifference& difference) {
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

std::string DescribeDifference(const v1::Plan& a, const v1::Plan& b,
                               const PlanDifference& difference) {
  std::string text = absl::StrFormat("  %-14s %12s %12s %12s\n", "", "first",
                                     "second", "difference");
  AppendFigures(a, b, &text);
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
    return absl::StrCat(text, "the plans shard everything alike\n");
  }
  AppendSegments(difference, &text);
  AppendArguments("arguments", difference.arguments, &text);
  AppendArguments("outputs", difference.outputs, &text);
  return text;
}

}  // namespace meshwright::cli
