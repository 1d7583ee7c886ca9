#include "cli/text/stages_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "cli/text/format.h"
#include "cli/text/table.h"
#include "coordinator/stages/planned_pipeline.h"
#include "planner/pipeline/trace.h"

namespace meshwright::cli {
namespace {

void DescribePipeline(const v1::Plan& plan, std::string* text) {
  const v1::PlanPipeline& pipeline = plan.pipeline();
  absl::StrAppendFormat(
      text, "pipeline %s, %d micro-batches, bubble %.1f %%%s\n",
      pipeline.schedule(), pipeline.micro_batches(), 100 * pipeline.bubble(),
      pipeline.overlap() ? "" : ", a transfer stops its stages");
  std::vector<TableRow> rows;
  for (const v1::PlanScheduleFigures& it : pipeline.tried()) {
    rows.push_back({it.schedule(), FormatSeconds(it.step_seconds()),
                    it.feasible()
                        ? absl::StrFormat("bubble %.1f %%", 100 * it.bubble())
                        : "does not fit the memory"});
  }
  absl::StrAppend(
      text, FormatTable({{"", Align::kLeft}, {""}, {"", Align::kLeft}}, rows,
                        /*indent=*/2));
}

void DescribeStageTable(const v1::Plan& plan, std::string* text) {
  std::vector<TableRow> rows;
  bool estimated = false;
  for (int i = 0; i < plan.stages_size(); ++i) {
    const v1::PlanStage& stage = plan.stages(i);
    estimated = estimated || stage.split_estimated();
    rows.push_back(
        {absl::StrCat(i + 1), absl::StrJoin(stage.mesh(), "x"),
         stage.devices().empty()
             ? ""
             : FormatRange(stage.devices(0), *stage.devices().rbegin()),
         FormatRange(stage.first_segment(),
                     stage.first_segment() + stage.segments_size() - 1),
         FormatSeconds(stage.forward_seconds()) +
             (stage.split_estimated() ? "*" : ""),
         FormatSeconds(stages::GetBackwardSeconds(plan, stage)),
         FormatSeconds(stage.update_seconds()),
         FormatSeconds(stage.predicted().step_seconds()),
         FormatBytes(stage.predicted().peak_bytes())});
  }
  absl::StrAppend(text, FormatTable({{"stage", Align::kLeft},
                                     {"mesh", Align::kLeft},
                                     {"devices", Align::kLeft},
                                     {"segments", Align::kLeft},
                                     {"forward"},
                                     {"backward"},
                                     {"update"},
                                     {"busy"},
                                     {"peak memory"}},
                                    rows));
  if (estimated) {
    absl::StrAppend(text,
                    "  * the split into forward, backward and update is "
                    "estimated\n");
  }
}

std::string DescribeTransfer(const v1::PlanTransfer& transfer) {
  if (transfer.bytes() == 0) return "nothing";
  return absl::StrCat(
      FormatBytes(transfer.bytes()), " in ",
      FormatSeconds(transfer.makespan_seconds()),
      transfer.optimal()
          ? ""
          : absl::StrCat(" (lower bound ",
                         FormatSeconds(transfer.lower_bound_seconds()), ")"));
}

void DescribeBoundaries(const v1::Plan& plan, std::string* text) {
  for (int i = 0; i < plan.boundaries_size(); ++i) {
    const v1::PlanBoundary& boundary = plan.boundaries(i);
    absl::StrAppend(text, "boundary ", i + 1, "-", i + 2,
                    boundary.within_host() ? " within a host" : "",
                    ": forward ", DescribeTransfer(boundary.forward()),
                    ", backward ", DescribeTransfer(boundary.backward()), "\n");
    for (const v1::PlanCrossing& it : boundary.tensors()) {
      absl::StrAppend(text, "  ", it.backward() ? "<- " : "-> ", "[",
                      absl::StrJoin(it.shape(), ","), "] ",
                      FormatBytes(it.bytes()), ", ", it.source_sharding(),
                      " to ", it.target_sharding(), "\n");
    }
  }
}

}  // namespace

void DescribeSegments(
    const std::string& title,
    const google::protobuf::RepeatedPtrField<v1::PlanSegment>& segments,
    int first, std::string* text) {
  if (segments.empty()) return;
  std::vector<TableRow> rows;
  for (int i = 0; i < segments.size();) {
    int end = i + 1;
    while (end < segments.size() &&
           segments[end].type() == segments[i].type() &&
           segments[end].config() == segments[i].config()) {
      ++end;
    }
    rows.push_back({FormatRange(first + i, first + end - 1),
                    absl::StrCat("type ", segments[i].type()),
                    segments[i].describe()});
    i = end;
  }
  absl::StrAppend(
      text, title, "\n",
      FormatTable({{"", Align::kLeft}, {"", Align::kLeft}, {"", Align::kLeft}},
                  rows, /*indent=*/2));
}

void DescribeStages(const v1::Plan& plan, std::string* text) {
  if (!plan.has_pipeline()) return;
  DescribePipeline(plan, text);
  DescribeStageTable(plan, text);
  DescribeBoundaries(plan, text);
  for (int i = 0; i < plan.stages_size(); ++i) {
    DescribeSegments(absl::StrCat("segments of stage ", i + 1),
                     plan.stages(i).segments(), plan.stages(i).first_segment(),
                     text);
  }
}

absl::StatusOr<std::string> TraceStages(const v1::Plan& plan) {
  ASSIGN_OR_RETURN(const pipeline::PipelineProblem problem,
                   stages::ParsePipeline(plan));
  ASSIGN_OR_RETURN(const pipeline::Timeline timeline,
                   stages::SimulatePlan(plan, problem));
  return pipeline::FormatTraceJson(problem, timeline);
}

}  // namespace meshwright::cli
