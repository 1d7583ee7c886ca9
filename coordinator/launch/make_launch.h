// MakeLaunch: from a plan to the programs that run it (launch.h).
//
// In -> Out: model, plan -> modules, calls, results; of a plan on one mesh, the
// model with the plan's shardings.
// Errors: kInvalidArgument for a plan that is infeasible, not of this model or
// without micro-batches. kUnimplemented for steps that cannot be cut into
// modules (stage_values.h, stage_modules.h).
// Threads: pure functions.
#ifndef MESHWRIGHT_COORDINATOR_LAUNCH_MAKE_LAUNCH_H_
#define MESHWRIGHT_COORDINATOR_LAUNCH_MAKE_LAUNCH_H_

#include <string>

#include "absl/status/statusor.h"
#include "coordinator/launch/launch.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::launch {

// A serialized HloModuleProto, with the op_name of what each instruction was
// in the model. The plan's mesh has been checked.
absl::StatusOr<std::string> AnnotateModel(const std::string& hlo_module,
                                          const v1::Plan& plan);

absl::StatusOr<Launch> MakeLaunch(const std::string& hlo_module,
                                  const v1::Plan& plan);

// The same step as one stage on one device.
absl::StatusOr<Launch> MakeUnsharded(const std::string& hlo_module,
                                     const v1::Plan& plan);

}  // namespace meshwright::launch

#endif  // MESHWRIGHT_COORDINATOR_LAUNCH_MAKE_LAUNCH_H_
