// MeasureChoices: rows for plans that a step's own search did not need.
//
// Concept: a validation compares plans of others (op-level solvers). Programs
// of their segments without a row are measured and recorded, so that these
// plans can be scored. A program that fails leaves its plan without a
// prediction. Errors: those of Measuring and BuildProblem.
#ifndef MESHWRIGHT_COORDINATOR_PLANNING_MEASURE_CHOICES_H_
#define MESHWRIGHT_COORDINATOR_PLANNING_MEASURE_CHOICES_H_

#include <vector>

#include "absl/status/status.h"
#include "coordinator/planning/measured_step.h"
#include "coordinator/planning/measuring.h"

namespace meshwright::planning {

absl::Status MeasureChoices(const v1::DeviceSpec& device,
                            const PlanDependencies& dependencies,
                            const jobs::ProgressFunction& progress,
                            const std::vector<space::SegmentChoice>& choices,
                            MeasuredStep& step);

}  // namespace meshwright::planning

#endif  // MESHWRIGHT_COORDINATOR_PLANNING_MEASURE_CHOICES_H_
