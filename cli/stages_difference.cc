#include "cli/stages_difference.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/arguments.h"
#include "cli/stages_text.h"

namespace meshwright::cli {
namespace {

using Arguments = google::protobuf::RepeatedPtrField<v1::PlanArgument>;

std::string Where(const v1::Plan& plan, int stage) {
  return absl::StrCat(" on ", absl::StrJoin(plan.stages(stage).mesh(), "x"),
                      ", stage ", stage + 1);
}

void Merge(const Arguments& of_stage, const std::string& where,
           std::map<int, v1::PlanArgument>* all) {
  for (const v1::PlanArgument& it : of_stage) {
    const auto [place, added] = all->try_emplace(it.index(), it);
    if (added) place->second.set_sharding(absl::StrCat(it.sharding(), where));
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

}  // namespace

v1::Plan StagesInLine(const v1::Plan& plan) {
  v1::Plan line = plan;
  std::map<int, v1::PlanArgument> arguments, outputs;
  for (int i = 0; i < plan.stages_size(); ++i) {
    const v1::PlanStage& stage = plan.stages(i);
    const std::string where = Where(plan, i);
    for (const v1::PlanSegment& it : stage.segments()) {
      v1::PlanSegment& segment = *line.add_segments();
      segment = it;
      segment.set_describe(absl::StrCat(it.describe(), where));
    }
    Merge(stage.arguments(), where, &arguments);
    Merge(stage.outputs(), where, &outputs);
  }
  for (auto& [index, it] : arguments) *line.add_arguments() = std::move(it);
  for (auto& [index, it] : outputs) *line.add_outputs() = std::move(it);
  return line;
}

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

}  // namespace meshwright::cli
