// Calls that leave what a planner can see: manual sharding, and the host.
//
// Concept: a step inside shard_map says itself what each device does, so there
// is no sharding left to choose. A host callback (jax.debug.print) runs in the
// process that traced the step, which no worker is. Where nothing reads its
// result it is left out, and named; else the step is refused.
// Threads: pure functions.
// Errors: kInvalidArgument, one sentence that names the instruction.
#ifndef MESHWRIGHT_COORDINATOR_IR_LOAD_OUTSIDE_CALLS_H_
#define MESHWRIGHT_COORDINATOR_IR_LOAD_OUTSIDE_CALLS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/ir/module.h"
#include "proto/hlo/hlo.pb.h"

namespace meshwright::ir {

absl::Status RefuseManualSharding(const hlo::HloModuleProto& proto);

// The names of the instructions that call the host.
std::vector<std::string> ListHostCalls(const Module& module);

// An error for a module that still has one when it is tidied.
absl::Status RefuseHostCalls(const Module& module);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_LOAD_OUTSIDE_CALLS_H_
