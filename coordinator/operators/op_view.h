// OpView: one operation of HLO, of a module or of a computation it calls.
//
// Ownership: borrows everything.
#ifndef MESHWRIGHT_COORDINATOR_OPERATORS_OP_VIEW_H_
#define MESHWRIGHT_COORDINATOR_OPERATORS_OP_VIEW_H_

#include <vector>

#include "coordinator/ir/module.h"
#include "coordinator/ir/opcode.h"
#include "coordinator/ir/shape.h"

namespace meshwright::operators {

struct OpView {
  ir::Opcode opcode = ir::Opcode::kUnknown;
  const hlo::HloInstructionProto* attributes = nullptr;
  const ir::Shape* shape = nullptr;
  std::vector<const ir::Shape*> operands;
};

OpView MakeView(const ir::Module& module, ir::ValueId id);

}  // namespace meshwright::operators

#endif  // MESHWRIGHT_COORDINATOR_OPERATORS_OP_VIEW_H_
