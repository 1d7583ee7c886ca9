#include "worker/pjrt/argument_copies.h"

#include <unordered_set>

#include "worker/pjrt/element_type.h"

namespace meshwright::worker::pjrt {

int64_t CountArgumentCopyBytes(const hlo::HloModuleProto& module) {
  std::unordered_set<int64_t> overwritten;  // by number
  for (const auto& entry : module.input_output_alias().entries()) {
    overwritten.insert(entry.parameter_number());
  }
  int64_t bytes = 0;
  for (const hlo::HloComputationProto& computation : module.computations()) {
    if (computation.id() != module.entry_computation_id()) continue;
    std::unordered_set<int64_t> arguments;  // by id, as they are or reshaped
    for (const auto& instruction : computation.instructions()) {
      const bool reads_one = instruction.operand_ids_size() == 1 &&
                             arguments.contains(instruction.operand_ids(0));
      if (instruction.opcode() == "parameter"
              ? overwritten.contains(instruction.parameter_number())
              : instruction.opcode() == "bitcast" && reads_one) {
        arguments.insert(instruction.id());
      } else if (instruction.opcode() == "copy" && reads_one) {
        bytes += CountShapeBytes(instruction.shape());
      }
    }
  }
  return bytes;
}

}  // namespace meshwright::worker::pjrt
