#include "coordinator/planning/symbolic_plan.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/link.h"
#include "base/status_macros.h"
#include "coordinator/export/activations.h"
#include "coordinator/export/baselines.h"
#include "coordinator/export/op_level.h"
#include "coordinator/export/plan_choice.h"
#include "coordinator/export/whole_model.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/planning/plan_metadata.h"
#include "coordinator/problem/memory_limit.h"
#include "coordinator/space/read_request.h"
#include "planner/problem/duration.h"

namespace meshwright::planning {
namespace {

constexpr const char* kSymbolic =
    "nothing was measured: the plan is chosen and predicted by roofline and "
    "assumed links, operator by operator; compare such plans with each other, "
    "and not with measured times";
constexpr const char* kSymbolicWithLinks =
    "nothing was measured: the plan is chosen and predicted by roofline and "
    "the links given, operator by operator; compare such plans with each "
    "other, and not with measured times";

void FillPrediction(const intraop::IntraOpAnswer& answer, v1::Plan& plan) {
  const double seconds = problem::ToSeconds(answer.plan->time);
  const double bound = problem::ToSeconds(answer.lower_bound);
  plan.set_lower_bound_seconds(bound);
  plan.set_gap(seconds > 0 ? (seconds - bound) / seconds : 0);
  v1::PlanPrediction& predicted = *plan.mutable_predicted();
  predicted.set_step_seconds(seconds);
  const double communication = problem::ToSeconds(answer.plan->communication);
  const double resharding = problem::ToSeconds(answer.plan->resharding);
  predicted.set_communication_seconds(communication + resharding);
  predicted.set_resharding_seconds(resharding);
  predicted.set_compute_seconds(seconds - communication - resharding);
  predicted.set_peak_bytes(answer.plan->peak_bytes);
}

void SetTotalSeconds(std::chrono::steady_clock::time_point start,
                     v1::Plan& plan) {
  plan.mutable_seconds()->set_total(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count());
}

struct Step {
  space::Mesh mesh;
  base::Links links;  // none: the assumed device's
  segmenter::Analysis analysis;
  space::ProfileSpace space;
};

absl::StatusOr<Step> OpenStep(const v1::PlanRequest& request) {
  Step step;
  ASSIGN_OR_RETURN(step.mesh, space::ReadMesh(request.mesh()));
  if (request.device_memory_bytes() < 0) {
    return absl::InvalidArgumentError("the device memory is negative");
  }
  ASSIGN_OR_RETURN(ir::Module module, ir::LoadModule(request.hlo_module()));
  ASSIGN_OR_RETURN(const segmenter::StrategyRequest strategies,
                   space::ReadRequest(request.strategies()));
  ASSIGN_OR_RETURN(step.analysis, segmenter::Analyze(std::move(module),
                                                     step.mesh, strategies));
  space::KeyContext context;
  context.mesh = step.mesh;
  step.space = BuildProfileSpace(step.analysis, context);
  RETURN_IF_ERROR(CheckConfigurations(step.analysis, step.space));
  for (const v1::AxisLink& link : request.links()) {
    step.links.push_back({link.alpha(), link.beta()});
  }
  if (!step.links.empty() && step.links.size() != step.mesh.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the mesh has ", step.mesh.size(), " axes, but links are given for ",
        step.links.size(), "; give one of each"));
  }
  return step;
}

absl::StatusOr<exporting::OpLevelPlan> SolveByOperator(
    const v1::PlanRequest& request, const Step& step) {
  // A CPU's figures only where a CPU was asked for.
  return exporting::MakeOpLevelPlan(
      step.analysis, {.device = exporting::AssumeDevice(request.platform()),
                      .links = step.links,
                      .memory_limit_bytes = formulation::FindUsableBytes(
                          request.device_memory_bytes()),
                      .split_contractions = true});
}

v1::Plan BeginSymbolicPlan(const v1::PlanRequest& request, const Step& step) {
  v1::Plan plan = BeginPlan(request, step.mesh);
  plan.set_device("symbolic");
  plan.mutable_programs()->set_total(step.space.segment_programs +
                                     step.space.resharding_programs);
  plan.mutable_programs()->set_distinct(
      static_cast<int>(step.space.programs.size()));
  return plan;
}

void DescribeChoice(const v1::PlanRequest& request, const Step& step,
                    const space::SegmentChoice& choice, v1::Plan& plan) {
  exporting::DescribeSegments(step.analysis, step.space, choice, &plan);
  exporting::DescribeArguments(step.analysis, step.space, choice, &plan);
  exporting::DescribeActivations(request.hlo_module(), step.analysis,
                                 step.space, choice, &plan);
}

absl::StatusOr<space::SegmentChoice> FindBaseline(const Step& step,
                                                  const std::string& name) {
  std::vector<exporting::NamedChoice> baselines =
      exporting::MakeBaselines(step.analysis, step.space);
  for (exporting::NamedChoice& it :
       exporting::MakeOpLevelBaselines(step.analysis, step.space)) {
    baselines.push_back(std::move(it));
  }
  std::vector<std::string> names;
  for (exporting::NamedChoice& it : baselines) {
    if (it.name == name) return std::move(it.choice);
    names.push_back(it.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", name, "\" is no baseline of this step; there are ",
                   absl::StrJoin(names, ", ")));
}

}  // namespace

absl::StatusOr<v1::Plan> MakeSymbolicPlan(const v1::PlanRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const Step step, OpenStep(request));
  ASSIGN_OR_RETURN(const exporting::OpLevelPlan made,
                   SolveByOperator(request, step));
  v1::Plan plan = BeginSymbolicPlan(request, step);
  plan.add_notes(step.links.empty() ? kSymbolic : kSymbolicWithLinks);
  plan.set_feasible(made.answer.plan.has_value());
  if (made.answer.plan.has_value()) {
    FillPrediction(made.answer, plan);
    DescribeChoice(
        request, step,
        exporting::FromBlocks(step.analysis, step.space, made.by_block), plan);
  } else if (made.answer.least_memory_bytes.has_value()) {
    NoteMinimumMemory(*made.answer.least_memory_bytes, plan);
  }
  SetTotalSeconds(start, plan);
  return plan;
}

absl::StatusOr<v1::Plan> MakeBaselinePlan(const v1::PlanRequest& request,
                                          const std::string& baseline) {
  const auto start = std::chrono::steady_clock::now();
  v1::PlanRequest opened = request;
  const std::string sharded =
      segmenter::NameSwitch(segmenter::SegmentSwitch::kFullySharded);
  auto& open = *opened.mutable_strategies()->mutable_open();
  if (baseline == "fsdp" &&
      std::find(open.begin(), open.end(), sharded) == open.end()) {
    *open.Add() = sharded;
  }
  ASSIGN_OR_RETURN(const Step step, OpenStep(opened));
  ASSIGN_OR_RETURN(const space::SegmentChoice choice,
                   FindBaseline(step, baseline));
  v1::Plan plan = BeginSymbolicPlan(opened, step);
  plan.add_notes(absl::StrCat("the plan is the baseline ", baseline,
                              "; nothing was measured or predicted, and no "
                              "memory limit was looked at"));
  plan.set_feasible(true);
  DescribeChoice(opened, step, choice, plan);
  SetTotalSeconds(start, plan);
  return plan;
}

}  // namespace meshwright::planning
