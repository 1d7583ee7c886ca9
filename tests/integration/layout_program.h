// LayoutProgram: paths of the layout planner as one XLA module.
//
// Concept: every replica of the module is a device of the mesh. A path takes
// one parameter, the device's tile of the source, and gives one output, its
// tile of the target. Between them stand the collectives of the path's steps,
// with the groups and pairs that layout_transfers.h gives.
// Shapes: tiles have their full size on every device. Elements beyond the
// tensor are padding, in inputs and outputs.
#ifndef MESHWRIGHT_TESTS_INTEGRATION_LAYOUT_PROGRAM_H_
#define MESHWRIGHT_TESTS_INTEGRATION_LAYOUT_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/layout/layout_problem.h"

namespace meshwright {

struct PathToRun {
  layout::LayoutProblem problem;
  layout::Path path;
};

// The full tile of `spec`, the same on every device.
std::vector<int64_t> TileShape(const layout::LayoutProblem& problem,
                               const layout::Spec& spec);

// HLO text of all `paths`, which share one mesh.
absl::StatusOr<std::string> LayoutProgram(const std::vector<PathToRun>& paths);

}  // namespace meshwright

#endif  // MESHWRIGHT_TESTS_INTEGRATION_LAYOUT_PROGRAM_H_
