#include "coordinator/explain/explain_stages.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "coordinator/explain/explain_choices.h"
#include "coordinator/export/plan_choice.h"
#include "coordinator/stages/planned_pipeline.h"
#include "coordinator/stages/stage_writer.h"
#include "planner/pipeline/memory.h"

namespace meshwright::explain {
namespace {

using problem::ToSeconds;
using stages::ChosenStage;
using stages::MeasuredMesh;
using stages::MeasuredMeshes;
using stages::PassTimeSplit;
using stages::RunAlternative;
using stages::StageWork;

class Explainer {
 public:
  Explainer(const v1::PlanRequest& request, MeasuredMeshes& step,
            const planning::PlanDependencies& dependencies,
            const search::Options& options)
      : request_(request),
        step_(step),
        dependencies_(dependencies),
        options_(options) {}

  absl::StatusOr<StageChoices> Explain(const v1::Plan& plan) {
    ASSIGN_OR_RETURN(schedule_,
                     pipeline::ParseSchedule(plan.pipeline().schedule()));
    ASSIGN_OR_RETURN(const pipeline::PipelineProblem problem,
                     stages::ParsePipeline(plan));
    ASSIGN_OR_RETURN(const pipeline::Timeline timeline,
                     stages::SimulatePlan(plan, problem));
    const auto held = pipeline::FindMaxHeld(timeline);
    std::vector<ChosenStage> stages;
    for (const v1::PlanStage& it : plan.stages()) {
      ASSIGN_OR_RETURN(ChosenStage stage, Recall(it));
      RETURN_IF_ERROR(EstimateWork(stage));
      stages.push_back(std::move(stage));
    }
    stages::ApplyPassTimes(step_);
    for (size_t i = 0; i < stages.size(); ++i) {
      RETURN_IF_ERROR(
          ExplainStage(static_cast<int>(i) + 1, stages[i], held[i]));
    }
    return std::move(out_);
  }

 private:
  absl::StatusOr<ChosenStage> Recall(const v1::PlanStage& stage) {
    const space::Mesh shape(stage.mesh().begin(), stage.mesh().end());
    ChosenStage recalled;
    recalled.place = {stage.first_segment(),
                      stage.first_segment() + stage.segments_size(), 0};
    int& mesh = recalled.place.mesh;
    const auto count = static_cast<int>(step_.meshes.size());
    while (mesh < count &&
           step_.meshes[mesh]->step.space.context.mesh != shape) {
      ++mesh;
    }
    if (mesh == count) {
      return absl::NotFoundError(
          absl::StrCat("the plan has a stage on mesh ", stages::NameMesh(shape),
                       ", and nothing is known of the step there"));
    }
    const planning::MeasuredStep& step = step_.meshes[mesh]->step;
    ASSIGN_OR_RETURN(const space::SegmentChoice choice,
                     exporting::FindChoice(stage, step.analysis, step.space));
    ASSIGN_OR_RETURN(recalled.run, step_.meshes[mesh]->search->EvaluateRun(
                                       recalled.first(), recalled.end(),
                                       {choice.begin() + recalled.place.first,
                                        choice.begin() + recalled.place.end}));
    return recalled;
  }

  // By the splits that the store knows.
  absl::Status EstimateWork(ChosenStage& stage) {
    std::set<PassTimeSplit::Choice> choices;
    for (const auto& [use, count] : stage.run.uses) choices.insert(use);
    MeasuredMesh& mesh = *step_.meshes[stage.place.mesh];
    v1::PlanPrograms counts;
    RETURN_IF_ERROR(mesh.splits
                        ->Measure(
                            choices,
                            planning::MakeDeviceSpec(
                                request_, mesh.step.space.context.mesh),
                            dependencies_, [](const v1::PlanProgress&) {},
                            /*wait=*/false, counts)
                        .status());
    stage.work = stages::ComputeStageWork(step_, stage.place.mesh, stage.run);
    return absl::OkStatus();
  }

  absl::Status ExplainStage(int number, const ChosenStage& stage,
                            const std::vector<pipeline::Held>& held) {
    int max_held = 0;
    for (const pipeline::Held& it : held) {
      max_held = std::max(max_held, it.whole + it.delayed);
    }
    const v1::PlanPrediction own = Predicted(stage);
    ASSIGN_OR_RETURN(
        std::vector<RunAlternative> alternatives,
        step_.meshes[stage.place.mesh]->search->Alternatives(
            stage.first(), stage.end(), max_held, stage.run.choice, options_));
    for (RunAlternative& it : alternatives) {
      const auto& configurations = step_.meshes[stage.place.mesh]
                                       ->step.space.types[it.type]
                                       .configurations;
      v1::PlanChoice& choice = *out_.explanation.add_choices();
      choice.set_stage(number);
      choice.set_type(static_cast<int>(it.type));
      choice.set_config(it.configuration);
      choice.set_describe(configurations[it.configuration].describe);
      choice.mutable_segments()->Assign(it.segments.begin(), it.segments.end());
      std::optional<StageWork>& next = out_.next.emplace_back();
      if (!it.next.has_value()) continue;
      ChosenStage other;
      other.place = stage.place;
      other.run = *std::move(it.next);
      RETURN_IF_ERROR(EstimateWork(other));
      *choice.mutable_next_best() = Compare(it, stage, own, held, other);
      next = other.work;
    }
    return absl::OkStatus();
  }

  v1::PlanPrediction Predicted(const ChosenStage& stage) const {
    v1::PlanStage described;
    stages::DescribeStage(step_, stage, schedule_, described);
    return described.predicted();
  }

  v1::PlanAlternative Compare(const RunAlternative& alternative,
                              const ChosenStage& stage,
                              const v1::PlanPrediction& own,
                              const std::vector<pipeline::Held>& held,
                              const ChosenStage& other) const {
    const v1::PlanPrediction next = Predicted(other);
    v1::PlanAlternative it;
    const double more = next.step_seconds() - own.step_seconds();
    it.set_step_seconds(next.step_seconds());
    it.set_more_seconds(more);
    it.set_more_share(own.step_seconds() > 0 ? more / own.step_seconds() : 0);
    it.set_at_least_seconds(more - ToSeconds(alternative.open));
    const double noise =
        ToSeconds(more < 0 ? alternative.noise.above : alternative.noise.below);
    it.set_noise_seconds(noise);
    it.set_within_noise(std::abs(more) <= noise);
    it.set_compute_seconds(next.compute_seconds() - own.compute_seconds());
    it.set_resharding_seconds(next.resharding_seconds() -
                              own.resharding_seconds());
    it.set_communication_seconds(more - it.compute_seconds() -
                                 it.resharding_seconds());
    it.set_peak_bytes(pipeline::FindPeak(other.work.stage, held) -
                      pipeline::FindPeak(stage.work.stage, held));
    it.set_split_estimated(other.work.estimated);
    for (v1::PlanChange& change :
         explain::ListChanges(step_.meshes[stage.place.mesh]->step,
                              stages::MakeWholeChoice(step_, stage),
                              stages::MakeWholeChoice(step_, other))) {
      *it.add_changes() = std::move(change);
    }
    return it;
  }

  const v1::PlanRequest& request_;
  MeasuredMeshes& step_;
  const planning::PlanDependencies& dependencies_;
  const search::Options& options_;
  pipeline::Schedule schedule_ = pipeline::Schedule::kGpipe;  // the plan's
  StageChoices out_;
};

}  // namespace

absl::StatusOr<StageChoices> ExplainStageChoices(
    const v1::PlanRequest& request, const v1::Plan& plan, MeasuredMeshes& step,
    const planning::PlanDependencies& dependencies,
    const search::Options& options) {
  return Explainer(request, step, dependencies, options).Explain(plan);
}

}  // namespace meshwright::explain
