// What tells an MLIR module from the other files of a model.
//
// Concept: StableHLO is MLIR, as text, as bytecode, or as a portable artifact,
// which is bytecode of a stable version. jaxlib reads it (cli/mlir/to_hlo.h);
// nothing here does.
// Threads: pure. Errors: none.
#ifndef MESHWRIGHT_COORDINATOR_IR_TEXT_MLIR_H_
#define MESHWRIGHT_COORDINATOR_IR_TEXT_MLIR_H_

#include <string_view>

namespace meshwright::ir {

// True for bytes that start like one, after space and comments.
bool LooksLikeMlir(std::string_view bytes);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_TEXT_MLIR_H_
