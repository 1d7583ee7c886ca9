#include "coordinator/planning/symbolic_plan.h"

#include <chrono>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/link.h"
#include "base/status_macros.h"
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
  predicted.set_communication_seconds(communication);
  predicted.set_resharding_seconds(resharding);
  predicted.set_compute_seconds(seconds - communication - resharding);
  predicted.set_peak_bytes(answer.plan->peak_bytes);
}

}  // namespace

absl::StatusOr<v1::Plan> MakeSymbolicPlan(const v1::PlanRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const space::Mesh mesh, space::ReadMesh(request.mesh()));
  if (request.device_memory_bytes() < 0) {
    return absl::InvalidArgumentError("the device memory is negative");
  }
  ASSIGN_OR_RETURN(ir::Module module, ir::LoadModule(request.hlo_module()));
  ASSIGN_OR_RETURN(const segmenter::StrategyRequest strategies,
                   space::ReadRequest(request.strategies()));
  ASSIGN_OR_RETURN(const segmenter::Analysis analysis,
                   segmenter::Analyze(std::move(module), mesh, strategies));
  space::KeyContext context;
  context.mesh = mesh;
  const space::ProfileSpace space = BuildProfileSpace(analysis, context);
  RETURN_IF_ERROR(CheckConfigurations(analysis, space));
  base::Links links;
  for (const v1::AxisLink& link : request.links()) {
    links.push_back({link.alpha(), link.beta()});
  }
  if (!links.empty() && links.size() != mesh.size()) {
    return absl::InvalidArgumentError(absl::StrCat("the mesh has ", mesh.size(),
                                                   " axes, but links are given "
                                                   "for ",
                                                   links.size(),
                                                   "; give one of each"));
  }
  // A CPU's figures only where a CPU was asked for.
  ASSIGN_OR_RETURN(
      const exporting::OpLevelPlan made,
      exporting::MakeOpLevelPlan(
          analysis, {.device = exporting::AssumeDevice(request.platform()),
                     .links = links,
                     .memory_limit_bytes = formulation::FindUsableBytes(
                         request.device_memory_bytes()),
                     .split_contractions = true}));
  v1::Plan plan = BeginPlan(request, mesh);
  plan.set_device("symbolic");
  plan.add_notes(links.empty() ? kSymbolic : kSymbolicWithLinks);
  plan.set_feasible(made.answer.plan.has_value());
  if (made.answer.plan.has_value()) {
    FillPrediction(made.answer, plan);
    const space::SegmentChoice choice =
        exporting::FromBlocks(analysis, space, made.by_block);
    exporting::DescribeSegments(analysis, space, choice, &plan);
    exporting::DescribeArguments(analysis, space, choice, &plan);
  } else if (made.answer.least_memory_bytes.has_value()) {
    NoteMinimumMemory(*made.answer.least_memory_bytes, plan);
  }
  plan.mutable_programs()->set_total(space.segment_programs +
                                     space.resharding_programs);
  plan.mutable_programs()->set_distinct(
      static_cast<int>(space.programs.size()));
  plan.mutable_seconds()->set_total(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count());
  return plan;
}

}  // namespace meshwright::planning
