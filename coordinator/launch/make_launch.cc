#include "coordinator/launch/make_launch.h"

#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/export/op_names.h"
#include "coordinator/export/plan_choice.h"
#include "coordinator/export/step_writer.h"
#include "coordinator/launch/calls.h"
#include "coordinator/planning/plan_metadata.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/space/programs/inputs.h"

namespace meshwright::launch {
namespace {

using exporting::PlannedStep;
using segmenter::Analysis;
using segmenter::SegmentIndex;
using segmenter::SegmentTypeId;

// One stage as its mesh has it.
struct StageStep {
  Analysis analysis;
  space::ProfileSpace space;
  space::SegmentChoice choice;
  exporting::SegmentRange range;
};

space::KeyContext MakeContext(
    const google::protobuf::RepeatedField<int64_t>& mesh,
    const v1::Plan& plan) {
  space::KeyContext context;
  context.mesh = space::Mesh(mesh.begin(), mesh.end());
  context.keeps_barriers = !absl::StartsWith(plan.device(), "cpu");
  return context;
}

absl::StatusOr<StageStep> OpenStage(const Analysis& analysis,
                                    const v1::PlanStage& stage,
                                    const v1::Plan& plan) {
  StageStep step;
  const space::KeyContext context = MakeContext(stage.mesh(), plan);
  ASSIGN_OR_RETURN(step.analysis, segmenter::OnMesh(analysis, context.mesh));
  step.space = space::BuildProfileSpace(step.analysis, context);
  ASSIGN_OR_RETURN(step.choice,
                   exporting::FindChoice(stage, step.analysis, step.space));
  step.range.first = SegmentIndex(stage.first_segment());
  step.range.end = SegmentIndex(stage.first_segment() + stage.segments_size());
  return step;
}

absl::Status CheckStages(const Analysis& analysis, const v1::Plan& plan) {
  int segments = 0;
  for (const v1::PlanStage& stage : plan.stages()) {
    if (stage.first_segment() != segments || stage.segments_size() == 0) break;
    segments += stage.segments_size();
  }
  if (segments == static_cast<int>(analysis.graphs.size())) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the plan's stages are not the model's ", analysis.graphs.size(),
      " segments one after the other; it was made for another model"));
}

std::vector<space::Rematerialization> FindRematerializations(
    const std::vector<StageStep>& stages) {
  std::vector<space::Rematerialization> rematerializations;
  for (const StageStep& stage : stages) {
    for (SegmentIndex s = stage.range.first; s < stage.range.end; ++s) {
      const auto& type = stage.space.types[stage.analysis.type_of_segment[s]];
      rematerializations.push_back(
          type.configurations[stage.choice[s]].recompute
              ? space::FindRematerialization(stage.analysis,
                                             stage.analysis.graphs[s])
              : space::Rematerialization());
    }
  }
  return rematerializations;
}

v1::Program BuildProgram(const StageStep& stage, const StageModule& module,
                         const std::vector<v1::InputSpec>& inputs) {
  const PlannedStep step(stage.analysis, stage.space, stage.choice,
                         stage.range);
  v1::Program program;
  program.set_label(
      absl::StrCat("stage ", module.place.stage, " ", NamePlace(module.place)));
  program.set_hlo_module(exporting::WritePart(
      stage.analysis, step, NamePlace(module.place), module.part));
  program.set_num_partitions(
      static_cast<int>(space::CountDevices(stage.space.context.mesh)));
  const ir::Module& whole = stage.analysis.module;
  for (const ir::ValueId id : module.part.entering) {
    const std::optional<int> argument = FindArgument(whole, id);
    *program.add_inputs() =
        argument.has_value()
            ? inputs[*argument]
            : space::MakeBoundaryInput(whole.at(id).shape,
                                       static_cast<uint64_t>(id));
  }
  for (size_t i = 0; i < module.part.summed.size(); ++i) {
    program.add_inputs()->set_kind(v1::InputSpec::CONSTANT);
  }
  program.set_key(space::ComputeProgramKey(program, stage.space.context));
  return program;
}

bool DelaysWeights(const v1::Plan& plan) {
  for (const v1::PlanStageOrder& order : plan.pipeline().order()) {
    for (const std::string& operation : order.operations()) {
      if (absl::StartsWith(operation, "BW_")) return true;
    }
  }
  return false;
}

absl::StatusOr<Launch> LaunchStages(Analysis analysis, const v1::Plan& plan) {
  Launch launch;
  launch.micro_batches = plan.pipeline().micro_batches();
  RETURN_IF_ERROR(CheckStages(analysis, plan));
  std::vector<StageStep> stages;
  for (const v1::PlanStage& stage : plan.stages()) {
    launch.first_segments.emplace_back(stage.first_segment());
    ASSIGN_OR_RETURN(StageStep step, OpenStage(analysis, stage, plan));
    stages.push_back(std::move(step));
  }
  ASSIGN_OR_RETURN(const std::vector<std::optional<Place>> places,
                   PlaceValues(analysis, stages::FindPasses(analysis),
                               launch.first_segments, DelaysWeights(plan)));
  ASSIGN_OR_RETURN(const std::vector<StageModule> modules,
                   FindModules(analysis, places, FindRematerializations(stages),
                               launch.micro_batches));
  const std::vector<v1::InputSpec> inputs = space::MakeArgumentInputs(analysis);
  for (const StageModule& module : modules) {
    launch.modules.push_back(
        {module.place, module.part,
         BuildProgram(stages[module.place.stage], module, inputs)});
  }
  launch.analysis = std::move(analysis);
  RETURN_IF_ERROR(FindCalls(plan, launch));
  return launch;
}

absl::StatusOr<Analysis> AnalyzeFor(const std::string& hlo_module,
                                    const v1::Plan& plan) {
  if (!plan.feasible()) {
    return absl::InvalidArgumentError(
        "the plan is an infeasible one: there is nothing to run");
  }
  if (plan.pipeline().micro_batches() < 1) {
    return absl::InvalidArgumentError(
        "the plan says of no micro-batches how many make a step");
  }
  return planning::AnalyzeStep(planning::RestoreRequest(plan, hlo_module));
}

}  // namespace

absl::StatusOr<std::string> AnnotateModel(const std::string& hlo_module,
                                          const v1::Plan& plan) {
  ASSIGN_OR_RETURN(
      const Analysis analysis,
      planning::AnalyzeStep(planning::RestoreRequest(plan, hlo_module)));
  const space::ProfileSpace space =
      BuildProfileSpace(analysis, MakeContext(plan.mesh(), plan));
  ASSIGN_OR_RETURN(const space::SegmentChoice choice,
                   exporting::FindChoice(plan, analysis, space));
  ASSIGN_OR_RETURN(const exporting::OpNames op_names,
                   exporting::ReadOpNames(hlo_module));
  return exporting::WriteStep(
      analysis, exporting::PlannedStep(analysis, space, choice), op_names);
}

absl::StatusOr<Launch> MakeLaunch(const std::string& hlo_module,
                                  const v1::Plan& plan) {
  ASSIGN_OR_RETURN(Analysis analysis, AnalyzeFor(hlo_module, plan));
  return LaunchStages(std::move(analysis), plan);
}

absl::StatusOr<Launch> MakeUnsharded(const std::string& hlo_module,
                                     const v1::Plan& plan) {
  ASSIGN_OR_RETURN(Analysis analysis, AnalyzeFor(hlo_module, plan));
  ASSIGN_OR_RETURN(const Analysis single, segmenter::OnMesh(analysis, {1, 1}));
  const auto space = space::BuildProfileSpace(single, {.mesh = {1, 1}});
  v1::Plan whole;
  whole.set_feasible(true);
  whole.set_device(plan.device());
  v1::PlanStage& stage = *whole.add_stages();
  stage.add_mesh(1);
  stage.add_mesh(1);
  for (const SegmentTypeId type : single.type_of_segment) {
    v1::PlanSegment& segment = *stage.add_segments();
    segment.set_type(static_cast<int>(type));
    segment.set_describe(space.types[type].configurations[0].describe);
  }
  const int micro_batches = plan.pipeline().micro_batches();
  whole.mutable_pipeline()->set_micro_batches(micro_batches);
  v1::PlanStageOrder& order = *whole.mutable_pipeline()->add_order();
  for (int m = 0; m < micro_batches; ++m) {
    order.add_operations(absl::StrCat("F_", m));
    order.add_operations(absl::StrCat("B_", m));
  }
  return LaunchStages(std::move(analysis), whole);
}

}  // namespace meshwright::launch
