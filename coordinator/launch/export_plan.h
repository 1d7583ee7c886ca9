// ExportPlan: the files that a launcher runs a plan from.
//
// In -> Out: model, plan -> of a plan on one mesh the model with the plan's
// shardings, module.hlo.pb; of a plan with stages a module for each stage and
// pass, and manifest.json (docs/formats/launch.md).
// Errors: those of make_launch.h. Threads: pure function.
#ifndef MESHWRIGHT_COORDINATOR_LAUNCH_EXPORT_PLAN_H_
#define MESHWRIGHT_COORDINATOR_LAUNCH_EXPORT_PLAN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/file.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::launch {

// The plan's meshes have been checked.
absl::StatusOr<std::vector<base::NamedFile>> ExportPlan(
    const std::string& hlo_module, const v1::Plan& plan);

}  // namespace meshwright::launch

#endif  // MESHWRIGHT_COORDINATOR_LAUNCH_EXPORT_PLAN_H_
