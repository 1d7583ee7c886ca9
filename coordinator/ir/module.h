// Module: the validated, normalised graph of one training step.
//
// Concept: the entry computation of an HLO module as a flat list of
// instructions in dependency order. Calls are inlined, and every loop is taken
// in as one trip of its body between its carries. Reducers, loop conditions and
// other called computations stay as messages that their callers name.
// Shapes: instruction i uses only instructions below i.
// Threads and ownership: a copyable value that shares the messages its
// instructions point to; const access from any thread.
#ifndef MESHWRIGHT_COORDINATOR_IR_MODULE_H_
#define MESHWRIGHT_COORDINATOR_IR_MODULE_H_

#include <google/protobuf/arena.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/index_range.h"
#include "base/strong_id.h"
#include "coordinator/ir/opcode.h"
#include "coordinator/ir/shape.h"
#include "proto/hlo/hlo.pb.h"

namespace meshwright::ir {

// Index of an instruction in Module::instructions.
using ValueId = base::StrongIndex<struct ValueTag, uint32_t>;

// Index of a loop in Module::loops.
using LoopId = base::StrongIndex<struct LoopTag>;

// Which element of what a loop carries.
struct LoopBoundary {
  LoopId loop;
  int element = 0;
};

struct Instruction {
  Opcode opcode = Opcode::kUnknown;
  std::optional<LoopId> loop;            // the innermost whose body it is in
  std::optional<LoopBoundary> boundary;  // of a kCarry or kLoopResult
  Shape shape;
  std::vector<ValueId> operands;
  std::vector<ValueId> users;  // distinct, ascending
  // Lives in the module's arena. Its ids, operands, shape and sharding are not
  // to be trusted after normalisation, the fields above are.
  const hlo::HloInstructionProto* source = nullptr;

  // Name and attributes.
  const hlo::HloInstructionProto& attributes() const { return *source; }
  const std::string& name() const { return source->name(); }
};

// Output `output` is written over parameter `parameter` (donated state).
struct Alias {
  int output = 0;
  int parameter = 0;
};

// A `while` whose body was taken in once. Carried element k enters by
// carries[k], a kCarry of the body whose operand is the value before the loop.
// It leaves by results[k], a kLoopResult outside whose operand is the body's
// next value. Both are none where nobody needs the element.
struct Loop {
  std::optional<LoopId> parent;
  std::vector<std::optional<ValueId>> carries;
  std::vector<std::optional<ValueId>> results;
  // Trips; 0 where unknown. A counted loop runs while element `counter`, from
  // `start` on, stays before its limit.
  int64_t trips = 0;
  std::optional<int> counter;
  int64_t start = 0;
  int64_t step = 0;
  int64_t condition = 0;    // computation id
  std::vector<int> tested;  // elements the condition reads
};

struct Module {
  std::string name;
  std::vector<Instruction> instructions;
  ValueId root;
  std::vector<ValueId> parameters;  // by parameter number
  std::vector<ValueId> outputs;     // operands of the root tuple, or the root
  std::vector<Alias> aliases;       // by output
  std::vector<Loop> loops;          // outer before inner
  // Names of the step's own sharding constraints; their operands are in their
  // place.
  std::vector<std::string> constraints;
  // Names of callbacks to the host that nothing read; they were left out.
  std::vector<std::string> host_calls;
  // Reducers and loop bodies by computation id.
  std::map<int64_t, const hlo::HloComputationProto*> computations;
  // Owns every message above; copies of a module share it.
  std::shared_ptr<google::protobuf::Arena> arena =
      std::make_shared<google::protobuf::Arena>();

  // A new message for a rewrite to fill: a copy of `like`, or an empty one.
  hlo::HloInstructionProto* NewAttributes();
  hlo::HloInstructionProto* NewAttributes(const hlo::HloInstructionProto& like);

  const Instruction& at(ValueId id) const { return instructions[id]; }
  int size() const { return static_cast<int>(instructions.size()); }
  base::IndexRange<ValueId> ids() const {
    return base::IndexRange<ValueId>(instructions.size());
  }
};

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_MODULE_H_
