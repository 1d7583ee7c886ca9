// AnnotatedModel: a model with the shardings that a plan gives it.
//
// In -> Out: a model, a plan on one mesh -> a serialized HloModuleProto.
// Errors: kInvalidArgument for a model that is none, and for a plan of another
// model.
#ifndef MESHWRIGHT_COORDINATOR_LAUNCH_ANNOTATED_MODEL_H_
#define MESHWRIGHT_COORDINATOR_LAUNCH_ANNOTATED_MODEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/v1/plan.pb.h"

namespace meshwright::launch {

// The plan's mesh has been checked.
absl::StatusOr<std::string> AnnotatedModel(const std::string& hlo_module,
                                           const v1::Plan& plan);

}  // namespace meshwright::launch

#endif  // MESHWRIGHT_COORDINATOR_LAUNCH_ANNOTATED_MODEL_H_
