// WorkCounter: how much arithmetic an operation of HLO does.
//
// Concept: the extents of the operation, given to the rules of
// planner/symbolic/flops.h. An operation that applies a computation (a
// reduction, a map) counts it as often as it is applied. A conditional counts
// its most expensive branch, a loop inside it one trip. A custom call counts
// nothing, because nothing is known of it. docs/decisions/op-level-plans.md has
// the table. Threads: one per object, which remembers the computations it has
// seen.
#ifndef MESHWRIGHT_COORDINATOR_OPERATORS_WORK_COUNTER_H_
#define MESHWRIGHT_COORDINATOR_OPERATORS_WORK_COUNTER_H_

#include <cstdint>
#include <map>
#include <vector>

#include "coordinator/ir/module.h"
#include "planner/symbolic/flops.h"

namespace meshwright::operators {

// One operation of HLO, of a module or of a computation it calls; borrows
// everything.
struct OpView {
  ir::Opcode opcode = ir::Opcode::kUnknown;
  const hlo::HloInstructionProto* attributes = nullptr;
  const ir::Shape* shape = nullptr;
  std::vector<const ir::Shape*> operands;
};

class WorkCounter {
 public:
  // The module outlives it.
  explicit WorkCounter(const ir::Module& module) : module_(module) {}

  // One run of an operation that passed verification.
  symbolic::Counts Count(ir::ValueId id);

 private:
  // One run of the computation. Nobody checked the shapes inside: what does not
  // fit counts nothing.
  symbolic::Counts CountComputation(int64_t id, int depth);
  symbolic::Counts CountCallee(const OpView& it, int number, int depth);
  // Operations whose shapes need no check beyond what is done here.
  symbolic::Counts CountSimple(const OpView& it, int depth);

  const ir::Module& module_;
  std::map<int64_t, symbolic::Counts> computations_;
};

}  // namespace meshwright::operators

#endif  // MESHWRIGHT_COORDINATOR_OPERATORS_WORK_COUNTER_H_
