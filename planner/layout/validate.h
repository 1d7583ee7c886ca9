// Validate: whether a LayoutProblem can be trusted by the search.
//
// Errors: kInvalidArgument in one sentence that names the field as the JSON
// format does ("source[1][0] is axis 4; the mesh has axes 0 to 2").
#ifndef MESHWRIGHT_PLANNER_LAYOUT_VALIDATE_H_
#define MESHWRIGHT_PLANNER_LAYOUT_VALIDATE_H_

#include "absl/status/status.h"
#include "planner/layout/layout_problem.h"

namespace meshwright::layout {

inline constexpr int64_t kMaxDevices = int64_t{1} << 30;

// Sizes, their products and both specs: all but the links.
absl::Status ValidateShardings(const LayoutProblem& problem);

// Also that the links together move the whole tensor within
// problem::kMaxTime, so that no step's time overflows.
absl::Status Validate(const LayoutProblem& problem);

}  // namespace meshwright::layout

#endif  // MESHWRIGHT_PLANNER_LAYOUT_VALIDATE_H_
