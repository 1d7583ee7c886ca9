// The bytes of a module: HLO text, HloModuleProto or HloProto.
//
// In -> Out: bytes -> a message in the given arena.
// Errors: kInvalidArgument when the bytes are none of the three. StableHLO is
// converted before (cli/mlir/to_hlo.h), and refused here.
#ifndef MESHWRIGHT_COORDINATOR_IR_LOAD_PARSE_H_
#define MESHWRIGHT_COORDINATOR_IR_LOAD_PARSE_H_

#include <google/protobuf/arena.h>

#include <string_view>

#include "absl/status/statusor.h"
#include "proto/hlo/hlo.pb.h"

namespace meshwright::ir {

absl::StatusOr<hlo::HloModuleProto*> ParseInto(std::string_view bytes,
                                               google::protobuf::Arena& arena);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_LOAD_PARSE_H_
