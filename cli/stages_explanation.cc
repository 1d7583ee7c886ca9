#include "cli/stages_explanation.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "cli/arguments.h"
#include "cli/stages_text.h"
#include "coordinator/stages/planned_pipeline.h"

namespace meshwright::cli {
namespace {

using pipeline::PipelineProblem;
using problem::ToSeconds;

// Until the last stage has updated; shared parameters come behind.
absl::StatusOr<double> StepOf(const v1::Plan& plan,
                              const PipelineProblem& problem) {
  ASSIGN_OR_RETURN(const pipeline::Timeline timeline,
                   stages::TimelineOf(plan, problem));
  double step = 0;
  for (size_t i = 0; i < timeline.stages.size(); ++i) {
    pipeline::Picoseconds end{0};
    for (const pipeline::Span& span : timeline.stages[i]) {
      end = std::max(end, span.end);
    }
    step =
        std::max(step, ToSeconds(end) +
                           plan.stages(static_cast<int>(i)).update_seconds());
  }
  return step;
}

void ATenthLess(pipeline::Stage& stage) {
  stage.forward -= stage.forward / 10;
  stage.backward_input -= stage.backward_input / 10;
  stage.backward_weight -= stage.backward_weight / 10;
  if (stage.backward.has_value()) *stage.backward -= *stage.backward / 10;
}

}  // namespace

absl::StatusOr<double> SimulatedStep(const v1::Plan& plan) {
  ASSIGN_OR_RETURN(const PipelineProblem problem, stages::PipelineOf(plan));
  ASSIGN_OR_RETURN(const double step, StepOf(plan, problem));
  return step + plan.pipeline().shared_seconds();
}

absl::StatusOr<StagesExplanation> ExplainStages(const v1::Plan& plan) {
  ASSIGN_OR_RETURN(const PipelineProblem problem, stages::PipelineOf(plan));
  ASSIGN_OR_RETURN(const double step, StepOf(plan, problem));
  const auto saved = [&](const PipelineProblem& faster) {
    auto shorter = StepOf(plan, faster);
    if (shorter.ok()) *shorter = step - *shorter;
    return shorter;
  };
  StagesExplanation explanation;
  explanation.shared_seconds = plan.pipeline().shared_seconds();
  for (size_t i = 0; i < problem.stages.size(); ++i) {
    const v1::PlanStage& described = plan.stages(static_cast<int>(i));
    StagesExplanation::Stage stage;
    stage.busy_seconds =
        problem.micro_batches * (described.forward_seconds() +
                                 stages::BackwardSeconds(plan, described)) +
        described.update_seconds();
    stage.idle_seconds =
        std::max(0.0, step + explanation.shared_seconds - stage.busy_seconds);
    PipelineProblem faster = problem;
    ATenthLess(faster.stages[i]);
    ASSIGN_OR_RETURN(stage.tenth_saves_seconds, saved(faster));
    explanation.stages.push_back(stage);
  }
  for (size_t i = 0; i < problem.transfers.size(); ++i) {
    PipelineProblem faster = problem;
    faster.transfers[i] = {};
    ASSIGN_OR_RETURN(const double seconds, saved(faster));
    explanation.boundary_seconds.push_back(seconds);
  }
  return explanation;
}

nlohmann::ordered_json ToJson(const StagesExplanation& explanation) {
  auto stages = nlohmann::ordered_json::array();
  for (const StagesExplanation::Stage& it : explanation.stages) {
    stages.push_back({{"busy_seconds", it.busy_seconds},
                      {"idle_seconds", it.idle_seconds},
                      {"tenth_saves_seconds", it.tenth_saves_seconds}});
  }
  return {{"stages", std::move(stages)},
          {"boundary_seconds", explanation.boundary_seconds},
          {"shared_seconds", explanation.shared_seconds}};
}

std::string DescribeWaits(const StagesExplanation& explanation) {
  std::string text = "what the step waits for\n";
  for (size_t i = 0; i < explanation.stages.size(); ++i) {
    const StagesExplanation::Stage& it = explanation.stages[i];
    absl::StrAppendFormat(
        &text,
        "  stage %-5d busy %s, idle %s; a tenth less work makes the step %s "
        "shorter\n",
        i + 1, FormatSeconds(it.busy_seconds), FormatSeconds(it.idle_seconds),
        FormatSeconds(it.tenth_saves_seconds));
  }
  for (size_t i = 0; i < explanation.boundary_seconds.size(); ++i) {
    absl::StrAppend(&text, "  boundary ", i + 1, "-", i + 2, " adds ",
                    FormatSeconds(explanation.boundary_seconds[i]), "\n");
  }
  if (explanation.shared_seconds > 0) {
    absl::StrAppend(&text, "  shared parameters add ",
                    FormatSeconds(explanation.shared_seconds), "\n");
  }
  return text;
}

}  // namespace meshwright::cli
