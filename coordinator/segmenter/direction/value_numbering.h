// Value numbering: which values of a step are surely equal.
//
// Concept: equal operations on equal values are equal, whatever barrier, copy
// or loop carry stands between. The values that a checkpointed layer recomputes
// in its backward pass are thus recognised. A slice of a stack equals what the
// loop wrote there; two slices of one stack inside loops are the same layer's.
// Constants of one number, however they are spread or converted, are equal by
// shape and number.
// In -> Out: module and operation hashes (hash.h) -> by ValueId the first value
// of its class.
// Source: docs/decisions/segmentation.md.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_VALUE_NUMBERING_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_VALUE_NUMBERING_H_

#include <cstdint>
#include <vector>

#include "coordinator/ir/module.h"

namespace meshwright::segmenter {

std::vector<ir::ValueId> NumberValues(const ir::Module& module,
                                      const std::vector<uint64_t>& hashes);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_VALUE_NUMBERING_H_
