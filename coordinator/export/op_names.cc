#include "coordinator/export/op_names.h"

#include "base/status_macros.h"
#include "coordinator/ir/load/load.h"

namespace meshwright::exporting {

absl::StatusOr<OpNames> ReadOpNames(const std::string& hlo_module) {
  ASSIGN_OR_RETURN(const hlo::HloModuleProto module,
                   ir::ParseModule(hlo_module));
  OpNames names;
  for (const hlo::HloComputationProto& computation : module.computations()) {
    for (const hlo::HloInstructionProto& it : computation.instructions()) {
      if (!it.metadata().op_name().empty()) {
        names[it.name()] = it.metadata().op_name();
      }
    }
  }
  return names;
}

}  // namespace meshwright::exporting
