#include "coordinator/ir/load/module_fingerprint.h"

#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include "base/fingerprint.h"
#include "coordinator/ir/load/parse.h"

namespace meshwright::ir {
namespace {

// Fields of XLA's HloModuleProto.
constexpr int kStackFrameIndex = 17;
constexpr int kFrontendAttributes = 19;

}  // namespace

std::string FingerprintModule(std::string_view bytes) {
  google::protobuf::Arena arena;
  const absl::StatusOr<hlo::HloModuleProto*> parsed = ParseInto(bytes, arena);
  if (!parsed.ok()) return base::Sha256Hex(bytes);
  hlo::HloModuleProto& module = **parsed;
  module.clear_id();
  google::protobuf::UnknownFieldSet& foreign =
      *module.GetReflection()->MutableUnknownFields(&module);
  foreign.DeleteByNumber(kStackFrameIndex);
  foreign.DeleteByNumber(kFrontendAttributes);
  for (hlo::HloComputationProto& computation : *module.mutable_computations()) {
    for (hlo::HloInstructionProto& it : *computation.mutable_instructions()) {
      it.clear_metadata();
      it.clear_frontend_attributes();
    }
  }
  return base::Sha256Hex(module.SerializeAsString());
}

}  // namespace meshwright::ir
