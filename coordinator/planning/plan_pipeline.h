// The planning pipeline: a request in, a measured plan out.
//
//   AnalyzeStep       bytes → graph, segments, strategies
//   MeasureAnalyzed   → profile space: configurations and their programs; look
//                     up, measure what can matter, build the problem
//   MeasureStep       AnalyzeStep, MeasureAnalyzed
//   FindPlan          MeasureStep, search; again with recomputation open as
//                     long as memory is short (memory_pressure.h)
//   MakePlan          FindPlan; keeps the model by fingerprint
//   OpenStep          AnalyzeStep, → profile space; nothing looked up
//
// Concept: a program that could not be measured is a note in the plan, not an
// error. A program that was not worth it is listed there with its reason
// (selection.h). On request everything is measured.
// Threads: one request per call; the store and the measurer may be shared.
// Errors: kInvalidArgument for a bad module, mesh or limit; kUnavailable where
// nothing could be measured; kCancelled once the plan is to stop; those of the
// store and of search::Solve.
#ifndef MESHWRIGHT_COORDINATOR_PLANNING_PLAN_PIPELINE_H_
#define MESHWRIGHT_COORDINATOR_PLANNING_PLAN_PIPELINE_H_

#include "absl/status/statusor.h"
#include "coordinator/jobs/measurer.h"
#include "coordinator/planning/measured_step.h"
#include "coordinator/planning/measuring.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::planning {

// The measuring protocol (docs/decisions/measuring.md); its version is part of
// every key.
v1::MeasureOptions MakeMeasureOptions();

// Analysed, with its profile space; nothing looked up yet.
absl::StatusOr<MeasuredStep> OpenStep(const v1::PlanRequest& request,
                                      jobs::Measurer* measurer);

// The same of an analysed step, on the mesh of `analysis`.
absl::StatusOr<MeasuredStep> OpenAnalyzed(const v1::PlanRequest& request,
                                          segmenter::Analysis analysis,
                                          jobs::Measurer* measurer);

absl::StatusOr<MeasuredStep> MeasureStep(
    const v1::PlanRequest& request, const PlanDependencies& dependencies,
    const jobs::ProgressFunction& progress);

// The same of an analysed step, on the mesh of `analysis`.
absl::StatusOr<MeasuredStep> MeasureAnalyzed(
    const v1::PlanRequest& request, segmenter::Analysis analysis,
    const PlanDependencies& dependencies,
    const jobs::ProgressFunction& progress);

// Checks the request. Errors: kInvalidArgument.
absl::StatusOr<segmenter::Analysis> AnalyzeStep(const v1::PlanRequest& request);

// The device that the programs of a request run on.
v1::DeviceSpec MakeDeviceSpec(const v1::PlanRequest& request,
                              const space::Mesh& mesh);

// Explanations and what-ifs find the model by the key that a plan names.
void KeepModel(const v1::PlanRequest& request,
               const PlanDependencies& dependencies, v1::Plan& plan);

// The best plan. As long as the memory limit costs time, a wider request is
// measured and searched next.
absl::StatusOr<v1::Plan> FindPlan(const v1::PlanRequest& request,
                                  const PlanDependencies& dependencies,
                                  const jobs::ProgressFunction& progress);

// FindPlan, and the model is kept.
absl::StatusOr<v1::Plan> MakePlan(const v1::PlanRequest& request,
                                  const PlanDependencies& dependencies,
                                  const jobs::ProgressFunction& progress);

}  // namespace meshwright::planning

#endif  // MESHWRIGHT_COORDINATOR_PLANNING_PLAN_PIPELINE_H_
