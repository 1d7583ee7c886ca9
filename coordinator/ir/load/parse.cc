#include "coordinator/ir/load/parse.h"

#include <google/protobuf/stubs/logging.h>

#include <utility>

#include "base/status_macros.h"
#include "coordinator/ir/text/hlo_text.h"
#include "coordinator/ir/text/mlir.h"

namespace meshwright::ir {
namespace {

using google::protobuf::Arena;

// Field 1 of a HloProto is its module, of a HloModuleProto its name: as a
// message that has no computations. Null where there are none.
hlo::HloModuleProto* ParseWrapper(std::string_view bytes, Arena& arena) {
  auto* const wrapper = Arena::CreateMessage<hlo::HloProto>(&arena);
  if (!wrapper->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      wrapper->hlo_module().computations().empty()) {
    return nullptr;
  }
  return wrapper->mutable_hlo_module();
}

}  // namespace

absl::StatusOr<hlo::HloModuleProto*> ParseInto(std::string_view bytes,
                                               Arena& arena) {
  if (bytes.empty()) return absl::InvalidArgumentError("the file is empty");
  auto* const module = Arena::CreateMessage<hlo::HloModuleProto>(&arena);
  if (LooksLikeHloText(bytes)) {
    ASSIGN_OR_RETURN(*module, ParseHloText(bytes));
    return module;
  }
  if (LooksLikeMlir(bytes)) {
    return absl::InvalidArgumentError(
        "the file is an MLIR module, which only the command line and the "
        "Python package convert, where jaxlib is; pass a serialized "
        "HloModuleProto or HLO text");
  }
  if (bytes.size() > (size_t{1} << 31) - 1) {
    return absl::InvalidArgumentError(
        "the file is larger than the 2 GiB a protobuf message may have");
  }
  // The status says it; protobuf's own lines on stderr would repeat it.
  const google::protobuf::LogSilencer silencer;
  if (auto* const inner = ParseWrapper(bytes, arena)) return inner;
  if (!module->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError(
        "the file is no HLO module, or a truncated one; pass a serialized "
        "HloModuleProto or HLO text");
  }
  return module;
}

}  // namespace meshwright::ir
