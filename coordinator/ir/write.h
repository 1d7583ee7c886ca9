// ModuleWriter: flat lists of instructions back into an HLO module message.
//
// Concept: the inverse of BuildModule for programs made here. Ids and names are
// new and depend only on the order of the calls, metadata is dropped, layouts
// are the default ones, so equal programs give equal bytes.
// Threads and ownership: one writer per module, one thread.
#ifndef MESHWRIGHT_COORDINATOR_IR_WRITE_H_
#define MESHWRIGHT_COORDINATOR_IR_WRITE_H_

#include <map>
#include <string>
#include <vector>

#include "coordinator/ir/module.h"

namespace meshwright::ir {

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
  int64_t AddOp(const std::string& opcode, const Shape& shape,
                const std::vector<int64_t>& operands,
                const hlo::OpSharding& sharding);

  // Ends the module with a tuple of `outputs`. `aliases` are pairs of output
  // and parameter numbers.
  hlo::HloModuleProto Finish(const std::vector<int64_t>& outputs,
                             const std::vector<Alias>& aliases);

 private:
  hlo::HloInstructionProto& Append(const std::string& opcode,
                                   const Shape& shape,
                                   const hlo::OpSharding& sharding);
  int64_t CopyComputation(int64_t id);

  const std::map<int64_t, const hlo::HloComputationProto*>& computations_;
  hlo::HloModuleProto module_;
  hlo::HloComputationProto entry_;
  std::map<int64_t, int64_t> copied_;
  // By id of this writer; kept for the root and the program shape.
  std::vector<Shape> shapes_;
  std::vector<hlo::OpSharding> shardings_;
  int64_t next_id_ = 0;
};

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_WRITE_H_
