#include "coordinator/ir/module.h"

namespace meshwright::ir {

hlo::HloInstructionProto* Module::NewAttributes() {
  return google::protobuf::Arena::CreateMessage<hlo::HloInstructionProto>(
      arena.get());
}

hlo::HloInstructionProto* Module::NewAttributes(
    const hlo::HloInstructionProto& like) {
  hlo::HloInstructionProto* const made = NewAttributes();
  *made = like;
  return made;
}

}  // namespace meshwright::ir
