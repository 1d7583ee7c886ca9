// Layout walks: from an operand up to the value it rearranges.
//
// Concept: what a contraction really reads hides behind operations that move
// elements without computing. They are transposes, converts, barriers, the
// carries of a loop, and the slice of a stack that a loop writes or reads layer
// by layer. Recomputed values that equal an earlier one (value_numbering.h)
// hide it, too. A walk follows them up to the base and keeps, for every
// dimension of the start, the dimension of the current value behind it. Shapes:
// `dims[i]` belongs to dimension i of the start; -1 where a reshape mixes
// dimensions. Source: docs/decisions/segmentation.md.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_LAYOUT_WALK_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_LAYOUT_WALK_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "coordinator/ir/module.h"

namespace meshwright::segmenter {

// The value that `id` holds unchanged. It is the operand of a copy, a barrier
// or a loop carry, or what was written to the stack it slices. None: it is its
// own.
std::optional<ir::ValueId> IsSameValue(const ir::Module& module,
                                       ir::ValueId id);

// The end of every value's walk. `classes` (value_numbering.h) may be null.
std::vector<ir::ValueId> FindLayoutBases(
    const ir::Module& module, const std::vector<ir::ValueId>* classes);

// For every dimension of `first` the same one of `second`, where both
// rearrange one value, as far as known. Each step of the walks takes one of
// `looks_left`; without any left nothing is known.
std::vector<std::optional<int>> ListDimsBetween(
    const ir::Module& module, const std::vector<ir::ValueId>* classes,
    ir::ValueId first, ir::ValueId second, int64_t& looks_left);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_LAYOUT_WALK_H_
