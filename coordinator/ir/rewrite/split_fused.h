// Splitting of fused contractions (fused QKV, fused gate-and-up).
//
// Concept: one contraction whose output is cut by slices into parts becomes one
// contraction per part with a slice of the weight. In the backward pass the
// contractions that read the concatenated cotangent become one per part, summed
// or concatenated. A contiguous tile of the fused output would cross the parts,
// so no column strategy could survive the slices. After the split every part is
// a contraction of its own. The parameter keeps its contiguous tile.
// Source: every step is an identity of linear algebra.
#ifndef MESHWRIGHT_COORDINATOR_IR_REWRITE_SPLIT_FUSED_H_
#define MESHWRIGHT_COORDINATOR_IR_REWRITE_SPLIT_FUSED_H_

#include "coordinator/ir/module.h"

namespace meshwright::ir {

// Returns how many fused contractions of the forward pass were split. Tidies
// the module when it changed it. The module at most doubles; where that or the
// depth of a walk ends the splitting, `cut_short` is set, where there is one.
int SplitFusedContractions(Module& module, bool* cut_short = nullptr);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_REWRITE_SPLIT_FUSED_H_
