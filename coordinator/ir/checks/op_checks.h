// Shape checks of the operations whose dimensions need arithmetic: windows,
// indices, linear algebra.
//
// In -> Out: an instruction -> null where it is sound, or what is wrong with
// it, to stand behind its name in a sentence.
#ifndef MESHWRIGHT_COORDINATOR_IR_CHECKS_OP_CHECKS_H_
#define MESHWRIGHT_COORDINATOR_IR_CHECKS_OP_CHECKS_H_

#include "coordinator/ir/module.h"

namespace meshwright::ir {

inline constexpr const char* kWrongDims = "has dimensions that do not fit";
inline constexpr const char* kWrongOperands =
    "has the wrong number of operands";

// Every number is one of `rank` dimensions, and none is there twice.
template <typename Repeated>
bool AreDistinctInRange(const Repeated& dims, int rank) {
  static_assert(kMaxRank <= 64);
  uint64_t seen = 0;
  for (const int64_t dim : dims) {
    if (dim < 0 || dim >= rank || (seen >> dim & 1) != 0) return false;
    seen |= uint64_t{1} << dim;
  }
  return true;
}

// For any operation; null for those whose dimensions need no arithmetic.
const char* CheckArithmetic(const Module& module, const Instruction& it);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_CHECKS_OP_CHECKS_H_
