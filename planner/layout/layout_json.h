// AnswerLayoutJson: `meshwright layout` without the command line.
//
// In → Out: cases as JSON → their cheapest conversions as JSON
// (docs/formats/layout.md), in the order of the file. A target that no legal
// steps reach is an answer: "feasible": false.
// Errors: kInvalidArgument, one sentence that names the case and the field;
// those of FindCheapestPath, with the case.
#ifndef MESHWRIGHT_PLANNER_LAYOUT_LAYOUT_JSON_H_
#define MESHWRIGHT_PLANNER_LAYOUT_LAYOUT_JSON_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/layout/cheapest_path.h"
#include "planner/layout/layout_problem.h"

namespace meshwright::layout {

struct LayoutCase {
  std::string name;
  LayoutProblem problem;
};

// Every problem is valid.
absl::StatusOr<std::vector<LayoutCase>> ParseCases(std::string_view json);

// `options` are for all cases together.
absl::StatusOr<std::string> AnswerLayoutJson(std::string_view json,
                                             const SearchOptions& options = {});

}  // namespace meshwright::layout

#endif  // MESHWRIGHT_PLANNER_LAYOUT_LAYOUT_JSON_H_
