// Calls that say more than what is computed: shardings, and the host.
//
// Concept: a step inside shard_map says itself what each device does, so there
// is no sharding left to choose. A constraint (with_sharding_constraint) says
// where a value lies; the plan chooses that, so the value stands in its place,
// and is named. A host callback (jax.debug.print) runs in the
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
#include "coordinator/ir/shape.h"
#include "proto/hlo/hlo.pb.h"

namespace meshwright::ir {

absl::Status RefuseManualSharding(const hlo::HloModuleProto& proto);

// Whether it gives back its one operand, of the shape `operand`, and only says
// how that is sharded. One of another shape stays a call that is not known.
bool IsShardingConstraint(const hlo::HloInstructionProto& it,
                          const Shape& operand);

// The same in the computations that `module` keeps (branches): copies take the
// place of constraints, which `module` then names. `proto` is what it was
// flattened from.
void ReplaceKeptConstraints(hlo::HloModuleProto& proto, Module& module);

// In those computations, leaves out the host calls that nothing reads, and
// names them in `module`, which keeps their messages alive.
void LeaveOutKeptHostCalls(hlo::HloModuleProto& proto, Module& module);

// The names of the instructions that call the host.
std::vector<std::string> ListHostCalls(const Module& module);

// An error for a module that still has one when it is tidied, itself or in a
// computation that one of its instructions calls.
absl::Status RefuseHostCalls(const Module& module);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_LOAD_OUTSIDE_CALLS_H_
