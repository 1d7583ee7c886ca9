// ToHlo: StableHLO becomes the HLO module that JAX would make of it.
//
// Concept: jaxlib reads StableHLO as text, bytecode or portable artifact, with
// annotations of Shardy or without. It runs in a child process, since it is a
// large foreign parser: a Python, which MESHWRIGHT_PYTHON names, else python3
// of PATH. Donation is kept. Shardings become calls that coordinator/ir/load
// takes for their operands, or, of a shard_map, refuses.
//   The bytes are those of a person's own file. A service converts nothing: it
// would parse a stranger's bytes with all rights of the coordinator.
// In -> Out: the bytes of a model -> bytes that are no MLIR: HLO is returned as
// it came.
// Threads: any, while nobody sets the environment.
// Errors: kFailedPrecondition where no Python with jaxlib starts;
// kInvalidArgument for what jaxlib refuses, or takes longer than the limit for.
// Sentences speak of "the file", as those of ir/load do.
#ifndef MESHWRIGHT_CLI_MLIR_TO_HLO_H_
#define MESHWRIGHT_CLI_MLIR_TO_HLO_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace meshwright::cli {

// Far more than any model needs; a parser that hangs ends by it.
inline constexpr absl::Duration kConversionLimit = absl::Minutes(5);

absl::StatusOr<std::string> ToHlo(std::string model,
                                  absl::Duration limit = kConversionLimit);

}  // namespace meshwright::cli

#endif  // MESHWRIGHT_CLI_MLIR_TO_HLO_H_
