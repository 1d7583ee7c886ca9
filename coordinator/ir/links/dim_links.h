// Dimension links: which operand dimension a split passes through to which
// output dimension.
//
// Concept: the affine maps of CFP, reduced to what a split into P equal parts
// needs (Eq. 2). A link (in, out) holds for P contiguous equal parts, if both
// sizes divide by P. It says that part p of output dimension `out` depends only
// on part p of operand dimension `in`. For a reshape that merges or splits
// dimensions only the outermost of a group links (Table 1, Eq. 3); a dimension
// without a link is reduced, or a barrier.
//
// For one output dimension, take every operand's link to it. The operation on
// the p-th parts of the linked operands and the whole of the others gives part
// p of the output. Attributes that state sizes shrink with them, and indices
// that point into a cut dimension count from the start of the part.
// Source: papers/cfp.txt 3.2, Table 1; the operations beyond the table follow
// their definition in HLO (docs/op-rules.md).
#ifndef MESHWRIGHT_COORDINATOR_IR_LINKS_DIM_LINKS_H_
#define MESHWRIGHT_COORDINATOR_IR_LINKS_DIM_LINKS_H_

#include <vector>

#include "coordinator/ir/links/dim_link.h"
#include "coordinator/ir/module.h"

namespace meshwright::ir {

// The links from operand number `operand` of `user`. Tuples whose elements have
// equal dimensions (variadic reduce and sort) count as one such array; other
// tuples link nothing.
std::vector<DimLink> FindDimLinks(const Module& module, ValueId user,
                                  int operand);

// Whether `id` transforms that dimension of its operand (an fft). XLA's
// partitioner has a way of its own to split one, which knows the last alone:
// such a dimension is whole before and behind.
bool IsTransformed(const Module& module, ValueId id, int dim);

// Pairs of the outermost dimensions of every group of a reshape.
std::vector<DimLink> FindReshapeLinks(const std::vector<int64_t>& in,
                                      const std::vector<int64_t>& out);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_LINKS_DIM_LINKS_H_
