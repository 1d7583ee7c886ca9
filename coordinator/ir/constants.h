// Constants: the values their literals hold.
//
// Concept: a program is written with default layouts, so a literal whose
// elements lie in another order is brought into the default one. A program can
// only run with all its values, while a text may leave large ones out.
// Errors: kInvalidArgument, one sentence that names the constant.
#ifndef MESHWRIGHT_COORDINATOR_IR_CONSTANTS_H_
#define MESHWRIGHT_COORDINATOR_IR_CONSTANTS_H_

#include "absl/status/status.h"
#include "coordinator/ir/module.h"
#include "proto/hlo/hlo.pb.h"

namespace meshwright::ir {

// Fails for a constant of the module that has no value.
absl::Status RequireLiterals(const Module& module);

// Reorders the elements as the default layout of the literal's shape wants
// them, and says so in the shape. Elements of tuples too.
void ToDefaultLayout(hlo::LiteralProto& literal);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_CONSTANTS_H_
