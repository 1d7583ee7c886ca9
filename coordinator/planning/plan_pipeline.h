// The planning pipeline: a request in, a measured plan out.
//
// Concept: load, analyse, build the profile space, look its programs up in the
// store, have measured and recorded those that can matter (selection.h) or, on
// request, all of them, search. What could not be measured is a note in the
// plan, not an error; what was not worth it is listed there with the numbers
// that say so.
// Threads: one request per call; the store and the measurer may be shared.
// Errors: kInvalidArgument for a bad module, mesh or limit; kUnavailable where
// nothing could be measured; those of the store.
#ifndef MESHWRIGHT_COORDINATOR_PLANNING_PLAN_PIPELINE_H_
#define MESHWRIGHT_COORDINATOR_PLANNING_PLAN_PIPELINE_H_

#include "absl/status/statusor.h"
#include "coordinator/jobs/measurer.h"
#include "coordinator/planning/measured_step.h"
#include "coordinator/planning/measuring.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::planning {

// The measuring protocol of design section 5; its version is part of every key.
v1::MeasureOptions DefaultMeasureOptions();

// Analysed, with its profile space; nothing looked up yet.
absl::StatusOr<MeasuredStep> OpenStep(const v1::PlanRequest& request,
                                      jobs::Measurer* measurer);

absl::StatusOr<MeasuredStep> MeasureStep(const v1::PlanRequest& request,
                                         const PlanDependencies& dependencies,
                                         const PlanProgressFunction& progress);

// The same of a step that was analysed before, on the mesh of `analysis`.
absl::StatusOr<MeasuredStep> MeasureAnalyzed(
    const v1::PlanRequest& request, segmenter::Analysis analysis,
    const PlanDependencies& dependencies, const PlanProgressFunction& progress);

// The step of a request, analysed; what the request says is checked.
absl::StatusOr<segmenter::Analysis> AnalyzeStep(const v1::PlanRequest& request);

// What the programs of a request run on.
v1::DeviceSpec DeviceOf(const v1::PlanRequest& request,
                        const space::Mesh& mesh);

// Explanations and what-ifs find the model again by the fingerprint of a plan.
void KeepModel(const v1::PlanRequest& request,
               const PlanDependencies& dependencies, v1::Plan& plan);

absl::StatusOr<v1::Plan> MakePlan(const v1::PlanRequest& request,
                                  const PlanDependencies& dependencies,
                                  const PlanProgressFunction& progress);

}  // namespace meshwright::planning

#endif  // MESHWRIGHT_COORDINATOR_PLANNING_PLAN_PIPELINE_H_
