// ModuleWriter: flat lists of instructions back into an HLO module message.
//
// Concept: the inverse of BuildModule for programs made here. Ids and names are
// new and depend only on the order of the calls. Metadata is dropped
// unless it is set, and layouts are the default ones, so equal programs give
// equal bytes.
// Threads and ownership: one writer per module, one thread; what it writes is
// its own, and lives in its arena.
#ifndef MESHWRIGHT_COORDINATOR_IR_WRITE_H_
#define MESHWRIGHT_COORDINATOR_IR_WRITE_H_

#include <google/protobuf/arena.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/ir/module.h"

namespace meshwright::ir {

// One element of a loop's tuple: as it is carried from trip to trip.
struct LoopElement {
  Shape shape;
  hlo::OpSharding sharding;
};

// When a loop ends: a counter that meets its limit, or, where `condition` names
// a computation, when that says so.
struct LoopEnd {
  int counter = 0;  // an element, a scalar integer
  int64_t limit = 0;
  bool upwards = true;
  std::optional<int64_t> condition;
  // By element of the condition's tuple, if it is carried.
  std::vector<std::optional<int>> elements;
};

class ModuleWriter {
 public:
  // `computations` are the reducers and loop bodies instructions may name;
  // those that are named get copied. Must outlive the writer.
  ModuleWriter(
      std::string name,
      const std::map<int64_t, const hlo::HloComputationProto*>& computations);

  // Each returns the id of the new instruction in the written module.
  int64_t AddParameter(const Shape& shape, const hlo::OpSharding& sharding);
  // Copies opcode and attributes of `like`; operands are ids of this writer.
  int64_t Add(const Instruction& like, const std::vector<int64_t>& operands,
              const hlo::OpSharding& sharding);
  // Metadata of the instruction that was added last.
  void SetOpName(const std::string& op_name);
  // An operation that needs no attributes beside its shape.
  int64_t AddOp(const std::string& opcode, const Shape& shape,
                const std::vector<int64_t>& operands,
                const hlo::OpSharding& sharding);
  // The same value with another sharding, as JAX's constraints write it: a copy
  // has no word in StableHLO.
  int64_t AddConstraint(int64_t value, const hlo::OpSharding& sharding);
  // The same values behind a barrier: nothing that reads them runs before all
  // are there, or is taken for what reads the values themselves.
  std::vector<int64_t> AddBarrier(const std::vector<int64_t>& values);
  // The same value, which cannot be computed before one of `after`, a list of
  // floats; for compilers that look through barriers. The added value is zero,
  // but no compiler knows that. Truth values stay as they are.
  int64_t AddDependence(int64_t value, const std::vector<int64_t>& after);

  // Until EndLoop, instructions go to the body of a loop over `elements`, whose
  // values in the body are returned. Loops nest.
  std::vector<int64_t> BeginLoop(const std::vector<LoopElement>& elements);
  // `initial` are values outside, `next` values of the body, one per element;
  // returns the elements behind the loop.
  std::vector<int64_t> EndLoop(const std::vector<int64_t>& initial,
                               const std::vector<int64_t>& next,
                               const LoopEnd& end);

  // Ends the module with a tuple of `outputs`. `aliases` are pairs of output
  // and parameter numbers. Nothing may be added after it.
  const hlo::HloModuleProto& Finish(const std::vector<int64_t>& outputs,
                                    const std::vector<Alias>& aliases);

 private:
  // Gives an instruction of the scope its id, shape and sharding.
  int64_t Register(hlo::HloInstructionProto& it, const Shape& shape,
                   const hlo::OpSharding& sharding);
  // Equal dimensions, equally split.
  bool LieAlike(int64_t a, int64_t b) const;
  // Zeros in the bits of floats; zeros to add to a value, computed from few
  // floats.
  int64_t AddZerosLike(int64_t floats);
  int64_t AddZerosFor(int64_t value, int64_t floats);
  // A tuple of values; the elements of one.
  int64_t AddTuple(const std::vector<int64_t>& values);
  std::vector<int64_t> AddElements(int64_t tuple);
  hlo::HloInstructionProto& Append(const std::string& opcode,
                                   const Shape& shape,
                                   const hlo::OpSharding& sharding);
  int64_t CopyComputation(int64_t id);
  int64_t CopyRenamed(hlo::HloComputationProto copy);
  int64_t CountedCondition(const Shape& tuple, const LoopEnd& end);
  const hlo::HloInstructionProto& ListCopyableAttributes(
      const Instruction& like);
  int64_t CopiedCondition(const Shape& tuple, const LoopEnd& end);
  hlo::HloComputationProto& scope() { return *scopes_.back(); }
  void OpenScope();

  const std::map<int64_t, const hlo::HloComputationProto*>& computations_;
  google::protobuf::Arena arena_;
  hlo::HloModuleProto& module_;
  // The entry, open loop bodies.
  std::vector<hlo::HloComputationProto*> scopes_;
  std::map<int64_t, int64_t> copied_;
  std::map<const hlo::HloInstructionProto*, hlo::HloInstructionProto> stripped_;
  int64_t computation_count_ = 0;
  // By id of this writer; kept for the root and the program shape.
  std::vector<Shape> shapes_;
  std::vector<const hlo::OpSharding*> shardings_;
  int64_t next_id_ = 0;
};

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_WRITE_H_
