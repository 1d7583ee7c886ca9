// Inlining of `call`: the entry computation becomes one flat list. A sharding
// constraint of the step (outside_calls.h) becomes its operand.
//
// Errors: kInvalidArgument when a call's operands do not match its callee, or
// when inlining would grow the module beyond its limit.
#ifndef MESHWRIGHT_COORDINATOR_IR_LOAD_INLINE_CALLS_H_
#define MESHWRIGHT_COORDINATOR_IR_LOAD_INLINE_CALLS_H_

#include "absl/status/statusor.h"
#include "coordinator/ir/load/resolve.h"
#include "coordinator/ir/module.h"
#include "proto/hlo/hlo.pb.h"

namespace meshwright::ir {

// `resolved` is of `proto`; the result has no `users` yet and points into
// `proto`.
absl::StatusOr<Module> Flatten(const hlo::HloModuleProto& proto,
                               const ResolvedModule& resolved);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_LOAD_INLINE_CALLS_H_
