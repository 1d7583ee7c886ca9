#include "coordinator/ir/load/parse.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/wire_format_lite.h>

#include <utility>

#include "base/status_macros.h"
#include "coordinator/ir/text/hlo_text.h"

namespace meshwright::ir {
namespace {

using google::protobuf::Arena;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

CodedInputStream Stream(std::string_view bytes) {
  return CodedInputStream(reinterpret_cast<const uint8_t*>(bytes.data()),
                          static_cast<int>(bytes.size()));
}

constexpr uint32_t LengthDelimited(int field) {
  return WireFormatLite::MakeTag(field,
                                 WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
}

// Field 1 of a HloProto is its module, of a HloModuleProto its name: as a
// message it has computations.
bool LooksWrapped(std::string_view bytes) {
  CodedInputStream whole = Stream(bytes);
  uint32_t size = 0;
  if (whole.ReadTag() !=
          LengthDelimited(hlo::HloProto::kHloModuleFieldNumber) ||
      !whole.ReadVarint32(&size)) {
    return false;
  }
  const size_t start = whole.CurrentPosition();
  if (size > bytes.size() - start) return false;
  CodedInputStream module = Stream(bytes.substr(start, size));
  bool found = false;
  while (const uint32_t tag = module.ReadTag()) {
    found |=
        tag == LengthDelimited(hlo::HloModuleProto::kComputationsFieldNumber);
    if (!WireFormatLite::SkipField(&module, tag)) return false;
  }
  return found;
}

// Null if the bytes are no such message or hold no computation.
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
  if (bytes.size() > (size_t{1} << 31) - 1) {
    return absl::InvalidArgumentError(
        "the file is larger than the 2 GiB a protobuf message may have");
  }
  // The status says it; protobuf's own lines on stderr would repeat it.
  const google::protobuf::LogSilencer silencer;
  const bool wrapped = LooksWrapped(bytes);
  if (wrapped) {
    if (auto* const inner = ParseWrapper(bytes, arena)) return inner;
  }
  if (!module->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError(
        "the file is no HLO module, or a truncated one; pass a serialized "
        "HloModuleProto or HLO text");
  }
  if (module->computations().empty() && !wrapped) {
    if (auto* const inner = ParseWrapper(bytes, arena)) return inner;
  }
  return module;
}

}  // namespace meshwright::ir
