// Checks a module message before anything trusts its ids, operands or shapes.
//
// Errors: kInvalidArgument, one sentence that names the instruction.
#ifndef MESHWRIGHT_COORDINATOR_IR_VERIFY_H_
#define MESHWRIGHT_COORDINATOR_IR_VERIFY_H_

#include "absl/status/status.h"
#include "coordinator/ir/module.h"
#include "proto/hlo/hlo.pb.h"

namespace meshwright::ir {

// Ids unique, operands defined before use, computations present and acyclic,
// parameters numbered without gaps, an entry computation.
absl::Status VerifyStructure(const hlo::HloModuleProto& module);

// The shape of one instruction agrees with its operands and attributes, for
// every operation the analysis has a rule for.
absl::Status VerifyShape(const Module& module, ValueId id);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_VERIFY_H_
