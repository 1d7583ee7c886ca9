// Recomputing: how much every segment may recompute.
//
// Concept: values that read only constants, iota and scalars belong to nobody
// and are recomputed wherever they are read. That is cheap as long as what lies
// above them is small; where it is not, they are computed once, like any other
// value. A limit on the operations above one value holds, and is halved until
// all that is recomputed together stays near the size of the module.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_RECOMPUTING_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_RECOMPUTING_H_

#include <vector>

#include "coordinator/ir/module.h"

namespace meshwright::segmenter {

// `recomputable` by ValueId; whatever a marked value reads is marked. Clears
// the marks of what is too large; returns whether the limit was halved.
bool LimitRecomputing(const ir::Module& module,
                      std::vector<char>& recomputable);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_RECOMPUTING_H_
