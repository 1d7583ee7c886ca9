#include "cli/planning.h"

#include <random>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/export/analysis_json.h"
#include "coordinator/export/baselines.h"
#include "coordinator/ir/constants.h"
#include "coordinator/service/plan_pipeline.h"

namespace meshwright::cli {
namespace {

using exporting::NamedChoice;
using exporting::SegmentChoice;
using service::MeasuredStep;

// The configurations a plan file names, checked against the step it is for.
absl::StatusOr<SegmentChoice> ChoiceOf(const v1::Plan& plan,
                                       const segmenter::Analysis& analysis,
                                       const space::ProfileSpace& space) {
  if (!plan.feasible()) {
    return absl::InvalidArgumentError(
        "the plan is an infeasible one: there is nothing to run");
  }
  const auto& types = analysis.type_of_segment;
  if (plan.segments_size() != static_cast<int>(types.size())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the plan has ", plan.segments_size(), " segments and the model ",
        types.size(), "; it was made for another model"));
  }
  SegmentChoice choice;
  for (int s = 0; s < plan.segments_size(); ++s) {
    const v1::PlanSegment& segment = plan.segments(s);
    const auto& configurations = space.types[types[s]].configurations;
    if (segment.type() != types[s] || segment.config() < 0 ||
        segment.config() >= static_cast<int>(configurations.size()) ||
        configurations[segment.config()].describe != segment.describe()) {
      return absl::InvalidArgumentError(
          absl::StrCat("segment ", s,
                       " of the plan is not one of this model; "
                       "it was made for another model or mesh"));
    }
    choice.push_back(segment.config());
  }
  return choice;
}

// Every node takes any configuration that was measured.
SegmentChoice RandomChoice(const MeasuredStep& step, std::mt19937_64& random) {
  SegmentChoice choice;
  for (int type : step.analysis.type_of_segment) {
    const auto& usable = step.measured.usable[type];
    choice.push_back(usable[random() % usable.size()]);
  }
  exporting::SettleEnds(step.analysis, step.space, choice);
  return choice;
}

v1::PlanRequest ToPlanRequest(const ValidationRequest& request) {
  v1::PlanRequest plan;
  plan.set_hlo_module(request.hlo_module);
  plan.set_model_name(request.model_name);
  for (int64_t size : request.plan.mesh()) plan.mutable_mesh()->add_shape(size);
  plan.set_platform(request.device.platform());
  plan.set_plugin_path(request.device.plugin_path());
  return plan;
}

}  // namespace

service::PlanFunction PlanWith(store::ProfileStore* store) {
  return [store](const v1::PlanRequest& request, jobs::Measurer* measurer,
                 const service::ProgressFunction& progress) {
    return service::MakePlan(request, {store, measurer}, progress);
  };
}

absl::StatusOr<std::string> AnalyzeJson(const std::string& hlo_module,
                                        const v1::MeshSpec& mesh) {
  return exporting::AnalyzeToJson(
      hlo_module, space::Mesh(mesh.shape().begin(), mesh.shape().end()));
}

absl::StatusOr<std::string> AnnotatedModel(const std::string& hlo_module,
                                           const v1::Plan& plan) {
  ASSIGN_OR_RETURN(ir::Module module, ir::LoadModule(hlo_module));
  RETURN_IF_ERROR(ir::RequireLiterals(module));
  space::KeyContext context;
  context.mesh = space::Mesh(plan.mesh().begin(), plan.mesh().end());
  ASSIGN_OR_RETURN(const segmenter::Analysis analysis,
                   segmenter::Analyze(std::move(module), context.mesh));
  const space::ProfileSpace space = BuildProfileSpace(analysis, context);
  ASSIGN_OR_RETURN(const SegmentChoice choice, ChoiceOf(plan, analysis, space));
  return exporting::WholeProgram(analysis, space, choice).hlo_module();
}

absl::StatusOr<Validation> PrepareValidation(
    const ValidationRequest& request, store::ProfileStore* store,
    jobs::Measurer* measurer, const service::ProgressFunction& progress) {
  ASSIGN_OR_RETURN(const MeasuredStep step,
                   service::MeasureStep(ToPlanRequest(request),
                                        {store, measurer}, progress));
  ASSIGN_OR_RETURN(SegmentChoice chosen,
                   ChoiceOf(request.plan, step.analysis, step.space));
  std::vector<NamedChoice> plans = {{"chosen", std::move(chosen)}};
  for (NamedChoice& baseline :
       exporting::Baselines(step.analysis, step.space)) {
    plans.push_back(std::move(baseline));
  }
  std::mt19937_64 random(request.seed);
  for (int i = 0; i < request.random_plans; ++i) {
    plans.push_back(
        {absl::StrCat("random ", i + 1), RandomChoice(step, random)});
  }

  Validation validation;
  v1::CompareRequest& compare = validation.request;
  *compare.mutable_device() = request.device;
  compare.mutable_device()->set_device_count(
      static_cast<int>(space::DeviceCount(step.space.context.mesh)));
  *compare.mutable_options() = service::DefaultMeasureOptions();
  // Whole plans are few and close to one another: none is cut short.
  compare.mutable_options()->set_dynamic_limit_ratio(0);
  std::set<std::string> keys;
  for (const NamedChoice& plan : plans) {
    v1::Program program =
        exporting::WholeProgram(step.analysis, step.space, plan.choice);
    program.set_label(plan.name);
    ValidationPlan row;
    row.name = plan.name;
    row.key = program.key();
    const auto score = ScoreChoice(step, plan.choice);
    if (score.ok()) {
      row.predicted_seconds = score->seconds;
      row.predicted_peak_bytes = score->peak_bytes;
    }
    validation.plans.push_back(std::move(row));
    if (keys.insert(program.key()).second) {
      *compare.add_programs() = std::move(program);
    }
  }
  // The reference is the module as it came, on one device.
  ASSIGN_OR_RETURN(const hlo::HloModuleProto module,
                   ir::ParseModule(request.hlo_module));
  v1::Program& reference = *compare.mutable_reference();
  module.SerializeToString(reference.mutable_hlo_module());
  reference.set_num_partitions(1);
  reference.set_label("reference");
  *reference.mutable_inputs() = compare.programs(0).inputs();
  reference.set_key(space::ProgramKey(reference, step.space.context));
  return validation;
}

}  // namespace meshwright::cli
