#include "coordinator/planning/remeasure_plan.h"

#include <string>
#include <vector>

#include "base/status_macros.h"
#include "coordinator/jobs/device_digest.h"
#include "coordinator/planning/plan_pipeline.h"
#include "coordinator/planning/remeasure.h"

namespace meshwright::planning {
namespace {

double GetSeconds(const v1::ProfileResult& row) {
  return static_cast<double>(row.measurement().minimum_ns()) * 1e-9;
}

}  // namespace

absl::StatusOr<v1::RemeasureReport> RemeasurePlan(
    const v1::Plan& plan, const v1::PlanRequest& request, bool all,
    const PlanDependencies& dependencies,
    const jobs::ProgressFunction& progress) {
  if (plan.has_pipeline()) {
    return absl::InvalidArgumentError(
        "a plan with stages has rows of several meshes; plan its meshes one by "
        "one and remeasure those plans");
  }
  ASSIGN_OR_RETURN(const MeasuredStep step,
                   OpenStep(request, dependencies.measurer));
  if (jobs::DigestFingerprint(step.device.fingerprint) !=
      jobs::DigestFingerprint(plan.device_fingerprint())) {
    return absl::FailedPreconditionError(
        "the plan was measured on other devices than these; remeasure it where "
        "it was made, or plan again here");
  }
  const std::vector<const v1::Program*> used = ListUsedPrograms(plan, step);
  std::vector<std::string> keys;
  for (const v1::Program* program : used) keys.push_back(program->key());
  ASSIGN_OR_RETURN(const store::Results before,
                   dependencies.store->Lookup(keys));
  std::vector<const v1::Program*> again;
  for (const v1::Program* program : used) {
    const auto row = before.find(program->key());
    if (all || row == before.end() || IsNoisy(row->second)) {
      again.push_back(program);
    }
  }
  Measuring measuring(dependencies,
                      MakeDeviceSpec(request, step.space.context.mesh),
                      step.space.context, progress);
  RETURN_IF_ERROR(measuring.Remeasure(again));
  v1::RemeasureReport report;
  report.set_left(static_cast<int>(used.size() - again.size()));
  for (const v1::Program* program : again) {
    v1::RemeasuredRow& row = *report.add_rows();
    row.set_label(program->label());
    row.set_key(program->key());
    const auto old = before.find(program->key());
    if (old != before.end() && old->second.outcome() == v1::MEASURED) {
      row.set_seconds_before(GetSeconds(old->second));
      row.set_quality_before(old->second.measurement().quality());
    }
    const v1::ProfileResult& now = measuring.results().at(program->key());
    if (now.outcome() == v1::MEASURED) {
      row.set_seconds_after(GetSeconds(now));
      row.set_quality_after(now.measurement().quality());
    }
    ASSIGN_OR_RETURN(const auto kept, dependencies.store->LookupKept(
                                          program->key(), store::kSharedPool));
    row.set_measurements(static_cast<int>(kept.size()));
  }
  return report;
}

}  // namespace meshwright::planning
