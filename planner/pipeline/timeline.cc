#include "planner/pipeline/timeline.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace meshwright::pipeline {

std::string Name(const Operation& operation) {
  const char* kind = "";
  switch (operation.kind) {
    case OperationKind::kForward:
      kind = "F_";
      break;
    case OperationKind::kBackward:
      kind = "B_";
      break;
    case OperationKind::kBackwardInput:
      kind = "BI_";
      break;
    case OperationKind::kBackwardWeight:
      kind = "BW_";
      break;
  }
  return absl::StrCat(kind, operation.micro_batch);
}

Picoseconds FindTime(const Stage& stage, OperationKind kind) {
  switch (kind) {
    case OperationKind::kForward:
      return stage.forward;
    case OperationKind::kBackward:
      return stage.Backward();
    case OperationKind::kBackwardInput:
      return stage.backward_input;
    case OperationKind::kBackwardWeight:
      return stage.backward_weight;
  }
  return Picoseconds(0);
}

Picoseconds FindStageEnd(const PipelineProblem& problem,
                         const Timeline& timeline, size_t stage) {
  Picoseconds end{0};
  for (const Span& span : timeline.stages[stage]) end = std::max(end, span.end);
  if (problem.overlap || stage == 0) return end;
  for (const Delivery& sent : timeline.backward_links[stage - 1]) {
    end = std::max(end, sent.end);
  }
  return end;
}

double ComputeBubble(const Timeline& timeline) {
  if (timeline.step.count() == 0) return 0;
  // Idle time, not one minus busy time: 0 must come out as 0.
  double idle = 0;
  for (const auto& spans : timeline.stages) {
    Picoseconds busy{0};
    for (const Span& span : spans) busy += span.end - span.start;
    idle += static_cast<double>((timeline.step - busy).count());
  }
  return idle / static_cast<double>(timeline.step.count()) /
         static_cast<double>(timeline.stages.size());
}

}  // namespace meshwright::pipeline
