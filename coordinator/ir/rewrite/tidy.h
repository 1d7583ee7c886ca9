// Tidy: restores a module's invariants after a rewrite.
#ifndef MESHWRIGHT_COORDINATOR_IR_REWRITE_TIDY_H_
#define MESHWRIGHT_COORDINATOR_IR_REWRITE_TIDY_H_

#include "coordinator/ir/module.h"

namespace meshwright::ir {

// Recomputes `users` and `outputs`, drops what no output needs (parameters
// stay) and restores dependency order after a rewrite appended instructions.
void Tidy(Module& module);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_REWRITE_TIDY_H_
