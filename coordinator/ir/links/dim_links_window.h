// Dimension links of operations that slide windows: convolution, reduce-window
// and select-and-scatter.
//
// Concept: a spatial dimension passes a split where every window lies inside
// the part it belongs to: patches side by side (window no larger than the
// stride, nothing padded before) and their transpose (one window for every
// element of a dilated base).
// Source: the padding arithmetic of HLO's convolution and reduce-window.
#ifndef MESHWRIGHT_COORDINATOR_IR_LINKS_DIM_LINKS_WINDOW_H_
#define MESHWRIGHT_COORDINATOR_IR_LINKS_DIM_LINKS_WINDOW_H_

#include <vector>

#include "coordinator/ir/links/dim_link.h"
#include "coordinator/ir/module.h"

namespace meshwright::ir {

// Whether windows that make `out` elements of `in` stay apart.
bool WindowsStayApart(const hlo::WindowDimension& window, int64_t in,
                      int64_t out);

// Of operations that passed verification.
std::vector<DimLink> ConvolutionLinks(const Module& module,
                                      const Instruction& it, int operand);
std::vector<DimLink> ReduceWindowLinks(const Module& module,
                                       const Instruction& it, int operand);
std::vector<DimLink> SelectAndScatterLinks(const Module& module,
                                           const Instruction& it, int operand);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_LINKS_DIM_LINKS_WINDOW_H_
