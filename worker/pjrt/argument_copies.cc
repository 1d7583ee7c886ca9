#include "worker/pjrt/argument_copies.h"

#include <unordered_set>

#include "worker/pjrt/element_type.h"

namespace meshwright::worker::pjrt {

int64_t CountArgumentCopyBytes(const hlo::HloModuleProto& module) {
  int64_t bytes = 0;
  for (const hlo::HloComputationProto& computation : module.computations()) {
    if (computation.id() != module.entry_computation_id()) continue;
    std::unordered_set<int64_t> arguments;
    for (const auto& instruction : computation.instructions()) {
      if (instruction.opcode() == "parameter") {
        arguments.insert(instruction.id());
      } else if (instruction.opcode() == "copy" &&
                 instruction.operand_ids_size() == 1 &&
                 arguments.contains(instruction.operand_ids(0))) {
        bytes += CountShapeBytes(instruction.shape());
      }
    }
  }
  return bytes;
}

}  // namespace meshwright::worker::pjrt
