// The dimension roles of a convolution, in the words of a dot.
//
// Concept: a convolution multiplies its input with its kernel and sums over the
// input features, as a dot does. It does that once for every place of the
// window.
//   free         the batch of the input; the output features of the kernel
//   contracting  the input features of both
//   spatial      the places on either side, and of the output
//   batch        with groups: the dimension that holds them on either side, the
//                input's features (or its batch, for batch groups) and the
//                kernel's output features; both lead to the output's features
// Groups are the outer digit of their dimension, so a split along it must
// divide their number (`groups`). The rest of a group has no partner: the
// kernel's input features of feature groups are contracted within.
// Source: HLO's convolution; its grouped gradients as JAX lowers them.
#ifndef MESHWRIGHT_COORDINATOR_IR_LINKS_CONTRACTION_DIMS_H_
#define MESHWRIGHT_COORDINATOR_IR_LINKS_CONTRACTION_DIMS_H_

#include "coordinator/ir/links/dot_dims.h"
#include "coordinator/ir/module.h"

namespace meshwright::ir {

// True for a dot or convolution that contracts something: what opens and joins
// ParallelBlocks.
bool IsContraction(const Module& module, ValueId id);

// Of a kDot that passed verification.
DotDims GetDotDims(const Module& module, ValueId dot);

// Of any contraction.
DotDims GetContractionDims(const Module& module, ValueId contraction);

// Dimensions of both sides of a contraction that can be cut together, so that
// the results of the parts add up to the whole. The outermost on the left comes
// first.
struct ContractedPair {
  int lhs = 0;
  int rhs = 0;
  bool operator==(const ContractedPair&) const = default;
};
std::vector<ContractedPair> FindContractedDims(const Module& module,
                                               ValueId id);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_LINKS_CONTRACTION_DIMS_H_
