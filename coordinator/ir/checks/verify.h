// Checks the shapes of a module before anything trusts them.
//
// Errors: kInvalidArgument, one sentence that names the instruction.
#ifndef MESHWRIGHT_COORDINATOR_IR_CHECKS_VERIFY_H_
#define MESHWRIGHT_COORDINATOR_IR_CHECKS_VERIFY_H_

#include "absl/status/status.h"
#include "coordinator/ir/module.h"

namespace meshwright::ir {

// The shape of one instruction agrees with its operands and attributes, for
// every operation the analysis has a rule for.
absl::Status VerifyShape(const Module& module, ValueId id);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_CHECKS_VERIFY_H_
