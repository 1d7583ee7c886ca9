// LoadModule: the bytes of a model become a checked, normalised Module.
//
// Concept: parse, resolve ids, inline calls and loops, check every shape, drop
// what no output needs.
// In -> Out: HLO text, or the bytes of an HloModuleProto or HloProto -> Module.
// Threads: free; the module owns what it points to.
// Errors: kInvalidArgument, one sentence that names the instruction.
#ifndef MESHWRIGHT_COORDINATOR_IR_LOAD_LOAD_H_
#define MESHWRIGHT_COORDINATOR_IR_LOAD_LOAD_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "coordinator/ir/module.h"
#include "proto/hlo/hlo.pb.h"

namespace meshwright::ir {

// Never trusts a size, id or index of the bytes.
absl::StatusOr<Module> LoadModule(std::string_view bytes);

// The steps of LoadModule, for tests and for modules made in memory.
absl::StatusOr<hlo::HloModuleProto> ParseModule(std::string_view bytes);
absl::StatusOr<Module> BuildModule(hlo::HloModuleProto proto);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_LOAD_LOAD_H_
