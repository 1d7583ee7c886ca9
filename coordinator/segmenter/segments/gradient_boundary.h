// Gradient boundaries: where the backward pass of one segment ends and that of
// the segment before it begins.
//
// Concept: between the last backward contraction of segment s+1 and the first
// of segment s lies a gap of operations without contractions. The vertex that
// every path through the gap crosses first is the gradient of the boundary
// tensor. Operations above it belong to s+1, operations behind it to s. Of
// several such vertices in a row it is the first behind everything that reads
// forward values of s+1 (the gradient of its norm). A conversion that narrows
// it belongs to s+1, too: a norm widens what it reads, so its gradient is
// narrowed.
//
//     contractions of s+1 --> norm', adds --> [boundary] --> reshape --> of s
//
// Paths are counted modulo a prime, from the top and from the bottom. A vertex
// on every path is one whose two counts multiply to the total.
// Source: docs/decisions/segmentation.md.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_GRADIENT_BOUNDARY_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_GRADIENT_BOUNDARY_H_

#include <functional>
#include <optional>
#include <vector>

#include "coordinator/ir/module.h"

namespace meshwright::segmenter {

// `gap` ascending. `enters(v)`: an operand outside the gap that a path comes
// from. `leaves(v)`: an operation outside the gap that ends a path. `ends(u)`:
// u itself is an output that ends a path. Returns the boundary vertex, if a
// single one is on every path.
std::optional<ir::ValueId> FindGradientBoundary(
    const ir::Module& module, const std::vector<ir::ValueId>& gap,
    const std::function<bool(ir::ValueId)>& enters,
    const std::function<bool(ir::ValueId)>& leaves,
    const std::function<bool(ir::ValueId)>& ends,
    const std::function<bool(ir::ValueId)>& reads_upper);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_SEGMENTS_GRADIENT_BOUNDARY_H_
