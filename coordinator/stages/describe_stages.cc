#include "coordinator/stages/describe_stages.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/export/plan_choice.h"
#include "coordinator/export/whole_model.h"
#include "coordinator/stages/stage_writer.h"
#include "planner/pipeline/pipeline_problem.h"
#include "planner/reshard/problem/durations.h"

namespace meshwright::stages {
namespace {

using pipeline::Picoseconds;
using problem::ToSeconds;

void WriteTransfer(const TransferPlan& transfer, v1::PlanTransfer& out) {
  out.set_bytes(transfer.bytes);
  if (!transfer.answer.has_value()) {
    out.set_optimal(true);
    return;
  }
  const reshard::Answer& answer = *transfer.answer;
  const reshard::Durations durations(transfer.problem);
  out.set_makespan_seconds(answer.makespan_seconds);
  out.set_lower_bound_seconds(answer.lower_bound_seconds);
  out.set_optimal(answer.optimal);
  out.set_solver(answer.solver);
  for (size_t i = 0; i < answer.schedule.size(); ++i) {
    const reshard::Send& send = answer.schedule[i];
    const reshard::UnitTask& task = transfer.problem.tasks[send.task];
    v1::PlanSend& sent = *out.add_order();
    sent.set_task(task.id);
    sent.set_size_bytes(send.bytes);
    sent.set_sender(transfer.problem.hosts[send.sender].name);
    for (const int host : task.receivers) {
      sent.add_receivers(transfer.problem.hosts[host].name);
    }
    sent.set_start_seconds(durations.Seconds(answer.timing.start[i]));
    sent.set_end_seconds(durations.Seconds(answer.timing.end[i]));
  }
}

void WriteBoundary(const segmenter::Analysis& analysis,
                   const BoundaryPlan& boundary, int after,
                   v1::PlanBoundary& out) {
  out.set_after_segment(after);
  out.set_within_host(boundary.within_host);
  for (const CrossingPlan& it : boundary.crossings) {
    const ir::Instruction& value = analysis.module.at(it.crossing.value);
    v1::PlanCrossing& tensor = *out.add_tensors();
    tensor.set_name(exporting::NameArgument(value));
    for (const int64_t dim : value.shape.dims) tensor.add_shape(dim);
    tensor.set_bytes(it.bytes);
    tensor.set_backward(it.crossing.backward);
    tensor.set_from_segment(it.crossing.from);
    tensor.set_source_sharding(
        exporting::FormatSharding(it.source, value.shape.rank()));
    tensor.set_target_sharding(
        exporting::FormatSharding(it.target, value.shape.rank()));
  }
  WriteTransfer(boundary.forward, *out.mutable_forward());
  WriteTransfer(boundary.backward, *out.mutable_backward());
}

void WritePipeline(const MeasuredMeshes& step, const ChosenPartition& chosen,
                   v1::PlanPipeline& out) {
  const pipeline::Figures& figures = chosen.chosen.figures;
  out.set_schedule(std::string(Name(figures.schedule)));
  out.set_micro_batches(step.terms.micro_batches);
  out.set_overlap(step.terms.overlap);
  out.set_host_bytes_per_second(step.terms.bandwidths.host);
  out.set_device_bytes_per_second(step.terms.bandwidths.device);
  out.set_device_as_host(step.terms.device_as_host);
  out.set_step_seconds(ToSeconds(chosen.chosen.step));
  out.set_bubble(figures.bubble);
  out.set_weight_delay(figures.delay.max);
  out.set_weight_delay_yields(figures.delay.yields);
  out.set_shared_seconds(ToSeconds(chosen.shared));
  for (const auto& spans : chosen.timeline.stages) {
    v1::PlanStageOrder& order = *out.add_order();
    for (const pipeline::Span& span : spans) {
      order.add_operations(Name(span.operation));
    }
  }
  out.mutable_peak_bytes()->Assign(figures.peak_bytes.begin(),
                                   figures.peak_bytes.end());
  for (const ScheduleTried& it : chosen.tried) {
    v1::PlanScheduleFigures& tried = *out.add_tried();
    tried.set_schedule(std::string(Name(it.figures.schedule)));
    tried.set_feasible(it.figures.fits);
    tried.set_step_seconds(ToSeconds(it.step));
    tried.set_bubble(it.figures.bubble);
    tried.mutable_peak_bytes()->Assign(it.figures.peak_bytes.begin(),
                                       it.figures.peak_bytes.end());
  }
}

// The stage whose own work takes longest.
int Busiest(const v1::Plan& plan) {
  int busiest = 0;
  for (int i = 1; i < plan.stages_size(); ++i) {
    if (plan.stages(i).predicted().step_seconds() >
        plan.stages(busiest).predicted().step_seconds()) {
      busiest = i;
    }
  }
  return busiest;
}

// The busiest stage's figures, and what the pipeline makes of the step.
void WritePrediction(const ChosenPartition& chosen, v1::Plan& plan) {
  v1::PlanPrediction& whole = *plan.mutable_predicted();
  whole = plan.stages(Busiest(plan)).predicted();
  const double busy = whole.step_seconds();
  const double step = ToSeconds(chosen.chosen.step);
  if (busy > 0) {
    for (int i = 0; i < whole.interval_seconds_size(); ++i) {
      whole.set_interval_seconds(i, whole.interval_seconds(i) / busy * step);
    }
  }
  whole.set_step_seconds(step);
  const auto& peaks = chosen.chosen.figures.peak_bytes;
  whole.set_peak_bytes(*std::max_element(peaks.begin(), peaks.end()));
  Picoseconds bound = chosen.lower_bound;
  for (const ChosenStage& stage : chosen.stages) {
    bound =
        std::max(bound, chosen.problem.micro_batches *
                                (stage.work.stage.forward +
                                 pipeline::FindMinBackward(stage.work.stage)) +
                            stage.work.update);
  }
  bound = std::min(bound + chosen.shared, chosen.chosen.step);
  plan.set_lower_bound_seconds(ToSeconds(bound));
  plan.set_gap(step > 0 ? (step - plan.lower_bound_seconds()) / step : 0);
}

void WriteNotes(const MeasuredMeshes& step, const ChosenPartition& chosen,
                v1::Plan& plan) {
  std::set<std::string> notes(step.notes.begin(), step.notes.end());
  for (const ChosenStage& stage : chosen.stages) {
    const planning::MeasuredStep& on = step.meshes[stage.place.mesh]->step;
    notes.insert(on.notes.begin(), on.notes.end());
    notes.insert(on.verdict_notes.begin(), on.verdict_notes.end());
  }
  for (const std::string& note : notes) plan.add_notes(note);
  std::vector<int> estimated;
  for (size_t i = 0; i < chosen.stages.size(); ++i) {
    if (chosen.stages[i].work.estimated &&
        (chosen.stages.size() > 1 || step.terms.micro_batches > 1)) {
      estimated.push_back(static_cast<int>(i) + 1);
    }
  }
  if (!estimated.empty()) {
    plan.add_notes(
        absl::StrCat("how the time of stages ", absl::StrJoin(estimated, ", "),
                     " splits into forward, backward and update is estimated"));
  }
  if (chosen.shared > Picoseconds(0)) {
    plan.add_notes(absl::StrCat(
        "stages share parameters: once per step their gradients meet and the "
        "new parameters come back, ",
        ToSeconds(chosen.shared), " s of the step"));
  }
}

}  // namespace

void DescribeStages(const MeasuredMeshes& step, const ChosenPartition& chosen,
                    v1::Plan& plan) {
  for (size_t i = 0; i < chosen.stages.size(); ++i) {
    v1::PlanStage& stage = *plan.add_stages();
    DescribeStage(step, chosen.stages[i], chosen.chosen.figures.schedule,
                  stage);
    stage.mutable_predicted()->set_peak_bytes(
        chosen.chosen.figures.peak_bytes[i]);
  }
  for (size_t i = 0; i < chosen.boundaries.size(); ++i) {
    WriteBoundary(step.analysis(), chosen.boundaries[i],
                  chosen.stages[i].place.end - 1, *plan.add_boundaries());
  }
  WritePipeline(step, chosen, *plan.mutable_pipeline());
  WritePrediction(chosen, plan);
  WriteNotes(step, chosen, plan);
}

}  // namespace meshwright::stages
