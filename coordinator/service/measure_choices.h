// MeasureChoices: rows for plans that a step's own search did not need.
//
// Concept: a validation compares plans of others (op-level solvers); what their
// segments need and nobody measured is measured now and recorded, so that they
// can be scored. A program that fails leaves its plan without a prediction.
// Errors: those of Measuring and BuildProblem.
#ifndef MESHWRIGHT_COORDINATOR_SERVICE_MEASURE_CHOICES_H_
#define MESHWRIGHT_COORDINATOR_SERVICE_MEASURE_CHOICES_H_

#include <vector>

#include "absl/status/status.h"
#include "coordinator/service/plan_pipeline.h"

namespace meshwright::service {

absl::Status MeasureChoices(
    const v1::DeviceSpec& device, const PlanDependencies& dependencies,
    const PlanProgressFunction& progress,
    const std::vector<exporting::SegmentChoice>& choices, MeasuredStep& step);

}  // namespace meshwright::service

#endif  // MESHWRIGHT_COORDINATOR_SERVICE_MEASURE_CHOICES_H_
