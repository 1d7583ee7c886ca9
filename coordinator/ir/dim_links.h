// Dimension links: which operand dimension a split passes through to which
// output dimension.
//
// Concept: the affine maps of CFP, reduced to what a split into P equal parts
// needs (Eq. 2). A link (in, out) says: if operand dimension `in` is cut into P
// contiguous equal parts, part p of output dimension `out` depends only on part
// p of it, provided both sizes divide by P. For a reshape that merges or splits
// dimensions only the outermost of a group links (Table 1, Eq. 3); a dimension
// without a link is reduced, or a barrier.
//
// For one output dimension, take every operand's link to it: the operation on
// the p-th parts of the linked operands and the whole of the others gives part
// p of the output. Attributes that state sizes shrink with them, and indices
// that point into a cut dimension count from the start of the part.
// Source: papers/cfp.txt 3.2, Table 1; the operations beyond the table follow
// their definition in HLO (docs/op-rules.md).
#ifndef MESHWRIGHT_COORDINATOR_IR_DIM_LINKS_H_
#define MESHWRIGHT_COORDINATOR_IR_DIM_LINKS_H_

#include <vector>

#include "coordinator/ir/dot_dims.h"
#include "coordinator/ir/module.h"

namespace meshwright::ir {

struct DimLink {
  int in = 0;   // dimension of the operand
  int out = 0;  // dimension of the user
  // Where not 0, P must divide it too: the groups of a convolution, the windows
  // of a select-and-scatter.
  int64_t groups = 0;
  bool operator==(const DimLink&) const = default;
};

// The links from operand number `operand` of `user`. Tuples whose elements have
// equal dimensions (variadic reduce and sort) count as one such array; other
// tuples link nothing.
std::vector<DimLink> DimLinks(const Module& module, ValueId user, int operand);

// The dimensions that stand for the value: its own, or its elements' where they
// are all alike; null where there are none to speak of.
const std::vector<int64_t>* UniformDims(const Shape& shape);

// Whether `id` transforms that dimension of its operand (an fft). XLA's
// partitioner has a way of its own to split one, which knows the last alone:
// such a dimension is whole before and behind.
bool IsTransformed(const Module& module, ValueId id, int dim);

// Pairs of the outermost dimensions of every group of a reshape.
std::vector<DimLink> ReshapeLinks(const std::vector<int64_t>& in,
                                  const std::vector<int64_t>& out);

// Of a kDot that passed verification.
DotDims DotDimsOf(const Module& module, ValueId dot);

// True for a dot or convolution that contracts something: what opens and joins
// ParallelBlocks.
bool IsContraction(const Module& module, ValueId id);

// Dimensions of both sides of a contraction that can be cut together, so that
// the results of the parts add up to the whole; outermost on the left first.
struct ContractedPair {
  int lhs = 0;
  int rhs = 0;
  bool operator==(const ContractedPair&) const = default;
};
std::vector<ContractedPair> ContractedDims(const Module& module, ValueId id);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_DIM_LINKS_H_
