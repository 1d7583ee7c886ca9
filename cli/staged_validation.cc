#include "cli/staged_validation.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "cli/arguments.h"
#include "cli/other_inputs.h"
#include "cli/planning.h"
#include "cli/staged_report.h"
#include "coordinator/launch/launch.h"
#include "coordinator/launch/sequence.h"
#include "coordinator/service/plan_pipeline.h"
#include "worker/runner/runner_process.h"

namespace meshwright::cli {
namespace {

using nlohmann::ordered_json;

// Far from the seeds of arguments and of micro-batches.
constexpr uint64_t kOtherSeeds = uint64_t{1} << 40;

absl::StatusOr<v1::RunnerRequest> MakeRequest(const std::string& hlo_module,
                                              const v1::Plan& plan,
                                              const launch::Launch& launch,
                                              uint64_t seeds) {
  v1::RunnerRequest request;
  *request.mutable_options() = service::DefaultMeasureOptions();
  request.mutable_options()->set_dynamic_limit_ratio(0);
  request.mutable_options()->set_minimum_samples(24);
  request.mutable_options()->set_minimum_time_ns(500'000'000);
  *request.mutable_sequence() = AddSequence(launch, seeds, request);
  if (launch.micro_batches == 1) {
    ASSIGN_OR_RETURN(*request.mutable_reference_sequence(),
                     AddWholeStep(hlo_module, launch, seeds, request));
    return request;
  }
  ASSIGN_OR_RETURN(const launch::Launch single,
                   launch::MakeUnsharded(hlo_module, plan));
  *request.mutable_reference_sequence() = AddSequence(single, seeds, request);
  return request;
}

absl::StatusOr<StagedResults> Run(const v1::RunnerRequest& request,
                                  const std::stop_token& stop) {
  StagedResults results;
  worker::runner::RunOptions options;
  options.stop = stop;
  const absl::Status status = worker::runner::RunBatch(
      request,
      [&](const v1::RunnerEvent& event) {
        if (event.has_result()) {
          results.modules[event.result().key()] = event.result();
        }
        if (!event.has_compared()) return;
        const auto& all = event.compared().relative_differences();
        results.differences.assign(all.begin(), all.end());
      },
      options);
  RETURN_IF_ERROR(status);
  return results;
}

}  // namespace

absl::Status CheckMeshes(const v1::Plan& plan) {
  RETURN_IF_ERROR(ParseMesh(absl::StrJoin(plan.mesh(), "x")).status());
  for (const v1::PlanStage& stage : plan.stages()) {
    RETURN_IF_ERROR(ParseMesh(absl::StrJoin(stage.mesh(), "x")).status());
    if (stage.mesh_size() != plan.mesh_size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a stage's mesh ", absl::StrJoin(stage.mesh(), "x"),
          " is no part of the cluster ", absl::StrJoin(plan.mesh(), "x")));
    }
  }
  return absl::OkStatus();
}

int LargestStage(const v1::Plan& plan) {
  int64_t largest = 1;
  for (const v1::PlanStage& stage : plan.stages()) {
    const space::Mesh mesh(stage.mesh().begin(), stage.mesh().end());
    largest = std::max(largest, space::DeviceCount(mesh));
  }
  return static_cast<int>(largest);
}

absl::StatusOr<ordered_json> ValidateStages(const std::string& hlo_module,
                                            const v1::Plan& plan,
                                            const std::vector<Anchor>& anchors,
                                            const v1::DeviceSpec& device,
                                            const std::stop_token& stop) {
  ASSIGN_OR_RETURN(const launch::Launch launch,
                   launch::MakeLaunch(hlo_module, plan));
  ASSIGN_OR_RETURN(v1::RunnerRequest request,
                   MakeRequest(hlo_module, plan, launch, 0));
  *request.mutable_device() = device;
  for (const Anchor& anchor : anchors) {
    *request.add_programs() = anchor.program;
  }
  ASSIGN_OR_RETURN(StagedResults results, Run(request, stop));
  results.anchors = anchors;
  const double tolerance = ToleranceOf(launch.analysis.module);
  ASSIGN_OR_RETURN(ordered_json report,
                   StagedReport(plan, launch, results, tolerance));
  // A plan that differs on these inputs alone met a kink (other_inputs.h).
  if (!report.contains("failure") &&
      !(Largest(results.differences) <= tolerance)) {
    ASSIGN_OR_RETURN(v1::RunnerRequest other,
                     MakeRequest(hlo_module, plan, launch, kOtherSeeds));
    *other.mutable_device() = device;
    RunOnce(*other.mutable_options());
    ASSIGN_OR_RETURN(const StagedResults again, Run(other, stop));
    results.other_differences = again.differences;
    return StagedReport(plan, launch, results, tolerance);
  }
  return report;
}

}  // namespace meshwright::cli
