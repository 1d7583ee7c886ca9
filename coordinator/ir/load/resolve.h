// The ids of a module message, checked and looked up once.
//
// Concept: instructions name their operands by id, in any numbering. A resolved
// computation names them by position. A walk over a computation, perhaps once
// per call, thus needs no table of its own.
// In -> Out: HloModuleProto -> positions of operands and roots.
// Errors: kInvalidArgument, one sentence that names the instruction. Causes: an
// id that is taken or used before it is defined; a computation that is missing,
// calls itself or nests too deeply; parameter numbers with gaps; no root; no
// entry.
#ifndef MESHWRIGHT_COORDINATOR_IR_LOAD_RESOLVE_H_
#define MESHWRIGHT_COORDINATOR_IR_LOAD_RESOLVE_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/hlo/hlo.pb.h"

namespace meshwright::ir {

struct ResolvedComputation {
  const hlo::HloComputationProto* message = nullptr;
  // Positions of the operands of all instructions, one after another.
  std::vector<int32_t> operands;
  int root = 0;    // position
  int height = 0;  // of the tree of computations it calls
};

struct ResolvedModule {
  // By computation id; points into the message.
  std::unordered_map<int64_t, ResolvedComputation> computations;
  int64_t entry = 0;  // computation id

  const ResolvedComputation& at(int64_t id) const {
    return computations.find(id)->second;
  }
};

absl::StatusOr<ResolvedModule> Resolve(const hlo::HloModuleProto& module);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_LOAD_RESOLVE_H_
