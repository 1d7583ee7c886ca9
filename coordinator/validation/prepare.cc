#include "coordinator/validation/prepare.h"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/estimation/time_base.h"
#include "coordinator/export/baselines.h"
#include "coordinator/export/plan_choice.h"
#include "coordinator/export/whole_model.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/jobs/device_digest.h"
#include "coordinator/planning/measure_choices.h"
#include "coordinator/planning/plan_metadata.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/planning/program_times.h"
#include "coordinator/planning/score.h"
#include "coordinator/selection/choice_programs.h"
#include "coordinator/validation/drift.h"

namespace meshwright::validation {
namespace {

using exporting::NamedChoice;
using planning::MeasuredStep;
using space::SegmentChoice;

bool AreTimed(const MeasuredStep& step, const std::set<std::string>& timed,
              const auto& programs) {
  return std::all_of(
      programs.begin(), programs.end(), [&](space::ProgramId program) {
        return timed.contains(step.space.programs[program].key());
      });
}

// Configurations of a type that were measured, in no group. Where the plan's
// file has times of some, these alone: what the store got later changes no
// draw.
std::vector<int> ListDrawn(const MeasuredStep& step,
                           segmenter::SegmentTypeId type,
                           const std::set<std::string>& timed) {
  const auto& configurations = step.space.types[type].configurations;
  std::vector<int> usable = step.measured.usable[type];
  std::erase_if(usable,
                [&](int c) { return configurations[c].role.InGroup(); });
  std::vector<int> planned = usable;
  std::erase_if(planned, [&](int c) {
    return !AreTimed(step, timed, selection::ListPrograms(configurations[c]));
  });
  return planned.empty() ? usable : planned;
}

// One that can be predicted, if a hundred draws hold one: segments that share a
// parameter may forbid each other's configurations.
SegmentChoice RandomChoice(const MeasuredStep& step,
                           const std::set<std::string>& timed,
                           std::mt19937_64& random) {
  std::map<segmenter::SegmentTypeId, std::vector<int>> drawn;
  for (const segmenter::SegmentTypeId type : step.analysis.type_of_segment) {
    if (!drawn.contains(type)) drawn[type] = ListDrawn(step, type, timed);
  }
  SegmentChoice choice;
  for (int draw = 0; draw < 100; ++draw) {
    choice.clear();
    for (const segmenter::SegmentTypeId type : step.analysis.type_of_segment) {
      const std::vector<int>& from = drawn.at(type);
      choice.push_back(from[random() % from.size()]);
    }
    exporting::MakeConsistent(step.analysis, step.space, choice);
    if (ScoreChoice(step, choice).ok()) break;
  }
  return choice;
}

v1::PlanRequest ToPlanRequest(const ValidationRequest& request) {
  v1::PlanRequest plan =
      planning::RestoreRequest(request.plan, request.hlo_module);
  plan.set_model_name(request.model_name);
  plan.clear_device_memory_bytes();
  plan.clear_stages();
  plan.set_platform(request.device.platform());
  plan.set_plugin_path(request.device.plugin_path());
  return plan;
}

bool IsOfTheseDevices(const v1::Plan& plan, const MeasuredStep& step) {
  return jobs::DigestFingerprint(plan.device_fingerprint()) ==
         step.space.context.device_digest;
}

// What the step's figures were when the plan was made, as far as the plan says.
absl::Status RestoreTimes(const v1::Plan& plan, MeasuredStep& step) {
  planning::UseProgramTimes(plan, step.results);
  ASSIGN_OR_RETURN(
      step.measured,
      formulation::BuildProblem(step.analysis, step.space, step.results,
                                step.measured.problem.memory_limit_bytes));
  return absl::OkStatus();
}

// The step as if the request had no rules, with what the store knows of it.
absl::StatusOr<MeasuredStep> WithoutRules(const ValidationRequest& request,
                                          const MeasuredStep& ruled,
                                          store::ProfileStore* store) {
  v1::PlanRequest open = ToPlanRequest(request);
  open.clear_strategies();
  *open.mutable_strategies()->mutable_open() = request.plan.strategies().open();
  MeasuredStep step;
  ASSIGN_OR_RETURN(step.analysis, planning::AnalyzeStep(open));
  step.space = BuildProfileSpace(step.analysis, ruled.space.context);
  std::vector<std::string> keys;
  for (const v1::Program& program : step.space.programs) {
    keys.push_back(program.key());
  }
  ASSIGN_OR_RETURN(step.results, store->Lookup(keys));
  for (auto& [key, row] : step.results) {
    estimation::BringToTimeBase(ruled.time_base, row);
  }
  planning::UseProgramTimes(request.plan, step.results);
  auto problem = formulation::BuildProblem(step.analysis, step.space,
                                           step.results, std::nullopt);
  if (problem.ok()) step.measured = *std::move(problem);
  return step;
}

struct NamedProgram {
  ValidationPlan row;
  bool is_baseline = false;
  SegmentChoice choice;  // empty: not of this step's configurations
  v1::Program program;
};

// `timed`: keys of the programs that the plan's file has times of.
NamedProgram MakeProgram(const MeasuredStep& step,
                         const std::set<std::string>& timed,
                         const NamedChoice& plan) {
  NamedProgram named;
  named.program =
      exporting::MakeWholeProgram(step.analysis, step.space, plan.choice);
  named.program.set_label(plan.name);
  named.choice = plan.choice;
  named.row.name = plan.name;
  named.row.key = named.program.key();
  if (step.measured.runs.empty()) return named;
  const auto score = ScoreChoice(step, plan.choice);
  if (score.ok()) {
    named.row.predicted = true;
    named.row.predicted_seconds = score->seconds;
    named.row.predicted_peak_bytes = score->peak_bytes;
    named.row.planned = AreTimed(
        step, timed,
        selection::ListChoicePrograms(step.analysis, step.space, plan.choice));
  }
  return named;
}

// The plan, then baselines and random plans.
absl::StatusOr<std::vector<NamedProgram>> MakePrograms(
    const ValidationRequest& request,
    const planning::PlanDependencies& dependencies,
    const jobs::ProgressFunction& progress, MeasuredStep& step) {
  ASSIGN_OR_RETURN(
      SegmentChoice chosen,
      exporting::FindChoice(request.plan, step.analysis, step.space));
  const bool is_of_these = IsOfTheseDevices(request.plan, step);
  if (is_of_these) planning::UseTimeBase(request.plan, step);
  std::optional<MeasuredStep> open;
  if (request.plan.strategies().blocks_size() > 0 ||
      request.plan.strategies().arguments_size() > 0) {
    ASSIGN_OR_RETURN(open, WithoutRules(request, step, dependencies.store));
  }
  const MeasuredStep& named = open.has_value() ? *open : step;
  std::vector<NamedChoice> baselines =
      exporting::MakeBaselines(named.analysis, named.space);
  std::vector<SegmentChoice> op_level;
  for (NamedChoice& baseline :
       exporting::MakeOpLevelBaselines(named.analysis, named.space)) {
    op_level.push_back(baseline.choice);
    baselines.push_back(std::move(baseline));
  }
  // The plan itself never needed them.
  if (!open.has_value()) {
    v1::DeviceSpec device = request.device;
    device.set_device_count(
        static_cast<int>(space::CountDevices(step.space.context.mesh)));
    RETURN_IF_ERROR(planning::MeasureChoices(device, dependencies, progress,
                                             op_level, step));
  }
  RETURN_IF_ERROR(RestoreTimes(request.plan, step));
  const std::set<std::string> timed = planning::ListTimedKeys(request.plan);
  std::vector<NamedProgram> plans = {
      MakeProgram(step, timed, {"chosen", std::move(chosen)})};
  if (is_of_these) {  // as the file says, whatever the store has by now
    ValidationPlan& own = plans.front().row;
    own.predicted = true;
    own.planned = true;
    own.predicted_seconds = request.plan.predicted().step_seconds();
    own.predicted_peak_bytes = request.plan.predicted().peak_bytes();
  }
  for (const NamedChoice& baseline : baselines) {
    plans.push_back(MakeProgram(named, timed, baseline));
    plans.back().is_baseline = true;
    if (open.has_value()) plans.back().choice.clear();
  }
  std::mt19937_64 random(request.seed);
  for (int i = 0; i < request.random_plans; ++i) {
    plans.push_back(MakeProgram(
        step, timed,
        {absl::StrCat("random ", i + 1), RandomChoice(step, timed, random)}));
  }
  return plans;
}

}  // namespace

double ChooseTolerance(const ir::Module& module) {
  for (const ir::ValueId id : module.ids()) {
    const ir::Shape& shape = module.at(id).shape;
    switch (shape.element_type) {
      case hlo::F16:
      case hlo::BF16:
      case hlo::F8E5M2:
      case hlo::F8E4M3:
      case hlo::F8E4M3FN:
      case hlo::F8E4M3FNUZ:
      case hlo::F8E4M3B11FNUZ:
      case hlo::F8E5M2FNUZ:
        return 3e-2;
      default:
        break;
    }
  }
  return 1e-3;
}

absl::StatusOr<Validation> PrepareValidation(
    const ValidationRequest& request, store::ProfileStore* store,
    jobs::Measurer* measurer, const jobs::ProgressFunction& progress) {
  ASSIGN_OR_RETURN(MeasuredStep step,
                   planning::MeasureStep(ToPlanRequest(request),
                                         {store, measurer}, progress));
  ASSIGN_OR_RETURN(std::vector<NamedProgram> plans,
                   MakePrograms(request, {store, measurer}, progress, step));

  Validation validation;
  validation.tolerance = ChooseTolerance(step.analysis.module);
  validation.machine = step.space.context.device_digest;
  validation.on_plans_devices = IsOfTheseDevices(request.plan, step);
  v1::CompareRequest& compare = validation.request;
  *compare.mutable_device() = request.device;
  compare.mutable_device()->set_device_count(
      static_cast<int>(space::CountDevices(step.space.context.mesh)));
  *compare.mutable_options() = step.space.context.options;
  // Whole plans are few and close to one another: none is cut short.
  compare.mutable_options()->set_dynamic_limit_ratio(0);
  // A whole step meets a moment without delays less often than its segments.
  compare.mutable_options()->set_minimum_time_ns(1'000'000'000);
  compare.mutable_options()->set_minimum_samples(24);
  std::set<std::string> keys;
  std::vector<PartialChoice> choices;
  for (NamedProgram& plan : plans) {
    choices.emplace_back(plan.choice.begin(), plan.choice.end());
    if (plan.is_baseline) {
      validation.baselines.push_back(static_cast<int>(validation.plans.size()));
    }
    if (plan.row.predicted) {
      (*compare.mutable_predicted_seconds())[plan.program.key()] =
          plan.row.predicted_seconds;
    }
    validation.plans.push_back(std::move(plan.row));
    if (keys.insert(plan.program.key()).second) {
      *compare.add_programs() = std::move(plan.program);
    }
  }
  validation.probes = ChooseProbes(step, choices);
  for (const Probe& probe : validation.probes) {
    *compare.add_programs() = probe.program;
  }
  // The reference is the module as it came, on one device.
  ASSIGN_OR_RETURN(const hlo::HloModuleProto module,
                   ir::ParseModule(request.hlo_module));
  v1::Program& reference = *compare.mutable_reference();
  module.SerializeToString(reference.mutable_hlo_module());
  reference.set_num_partitions(1);
  reference.set_label("reference");
  *reference.mutable_inputs() = compare.programs(0).inputs();
  reference.set_key(space::ComputeProgramKey(reference, step.space.context));
  return validation;
}

}  // namespace meshwright::validation
