#include "coordinator/service/symbolic_plan.h"

#include <chrono>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "coordinator/export/baselines.h"
#include "coordinator/export/op_level.h"
#include "coordinator/export/whole_model.h"
#include "coordinator/space/read_request.h"
#include "planner/problem/duration.h"

namespace meshwright::service {
namespace {

constexpr const char* kSymbolic =
    "nothing was measured: the plan is chosen and predicted by roofline and "
    "assumed links, operator by operator, and ranks rather than predicts";

absl::StatusOr<space::Mesh> ReadMesh(const v1::MeshSpec& spec) {
  space::Mesh mesh(spec.shape().begin(), spec.shape().end());
  for (int64_t size : mesh) {
    if (size < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("a mesh axis of ", size, " devices is none"));
    }
  }
  if (mesh.empty()) {
    return absl::InvalidArgumentError(
        "the mesh has no axis; pass one like 1x2");
  }
  return mesh;
}

v1::Plan BeginPlan(const v1::PlanRequest& request, const space::Mesh& mesh) {
  v1::Plan plan;
  plan.set_schema_version(1);
  plan.mutable_model()->set_fingerprint(base::Sha256Hex(request.hlo_module()));
  plan.mutable_model()->set_name(request.model_name());
  for (int64_t size : mesh) plan.add_mesh(size);
  *plan.mutable_strategies() = request.strategies();
  plan.set_limit_bytes(request.device_memory_bytes());
  plan.set_device("symbolic");
  plan.add_notes(kSymbolic);
  return plan;
}

void FillSegments(const segmenter::Analysis& analysis,
                  const space::ProfileSpace& space,
                  const exporting::SegmentChoice& choice, v1::Plan& plan) {
  for (size_t s = 0; s < choice.size(); ++s) {
    const int type = analysis.type_of_segment[s];
    const space::Configuration& configuration =
        space.types[type].configurations[choice[s]];
    v1::PlanSegment& segment = *plan.add_segments();
    segment.set_type(type);
    segment.set_config(choice[s]);
    segment.set_describe(configuration.describe);
    segment.set_switch_(segmenter::SwitchName(configuration.segment_switch));
    const int first = analysis.plan.segments[s].first_block;
    for (size_t b = 0; b < configuration.strategies.size(); ++b) {
      segment.add_strategies(analysis.strategies[first + b]
                                 .strategies[configuration.strategies[b]]
                                 .name);
    }
  }
}

void FillPrediction(const intraop::IntraOpAnswer& answer, v1::Plan& plan) {
  const double seconds = problem::ToSeconds(answer.plan->time);
  const double bound = problem::ToSeconds(answer.lower_bound);
  plan.set_lower_bound_seconds(bound);
  plan.set_gap(seconds > 0 ? (seconds - bound) / seconds : 0);
  v1::PlanPrediction& predicted = *plan.mutable_predicted();
  predicted.set_step_seconds(seconds);
  predicted.set_peak_bytes(answer.plan->peak_bytes);
  predicted.add_interval_seconds(seconds);
  predicted.add_interval_seconds(seconds);
}

}  // namespace

absl::StatusOr<v1::Plan> MakeSymbolicPlan(const v1::PlanRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const space::Mesh mesh, ReadMesh(request.mesh()));
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
  std::optional<int64_t> limit;
  if (request.device_memory_bytes() > 0) limit = request.device_memory_bytes();
  // A CPU's figures only where a CPU was asked for.
  ASSIGN_OR_RETURN(const exporting::OpLevelPlan made,
                   exporting::MakeOpLevelPlan(
                       analysis, intraop::CostKind::kRoofline,
                       exporting::AssumeDevice(request.platform()), limit));
  v1::Plan plan = BeginPlan(request, mesh);
  plan.set_feasible(made.answer.plan.has_value());
  if (made.answer.plan.has_value()) {
    FillPrediction(made.answer, plan);
    const exporting::SegmentChoice choice =
        exporting::FromBlocks(analysis, space, made.by_block);
    FillSegments(analysis, space, choice, plan);
    exporting::DescribeArguments(analysis, space, choice, &plan);
  } else if (made.answer.least_memory_bytes.has_value()) {
    plan.set_least_memory_bytes(*made.answer.least_memory_bytes);
    plan.add_notes(absl::StrCat("no plan fits ", request.device_memory_bytes(),
                                " bytes per device; the most frugal one needs ",
                                *made.answer.least_memory_bytes));
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

}  // namespace meshwright::service
