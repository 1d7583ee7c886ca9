// Dimension links of operations whose links take more than a line. These index
// by data (gather, scatter, dynamic slices) or slide windows (convolution,
// reduce-window, select-and-scatter).
//
// Concept: a dimension that indices point into passes no split to what is read
// from it, since any part may be meant. Data written by index stays where it
// was. An indexed dimension of a scatter's input passes, and each part takes
// the updates that fall into it. A spatial dimension passes a split where every
// window lies inside the part it belongs to. That holds for patches side by
// side (window no larger than the stride, nothing padded before). It also holds
// for their transpose (one window for every element of a dilated base).
// Source: the definitions of gather, scatter, convolution and reduce-window in
// HLO.
#ifndef MESHWRIGHT_COORDINATOR_IR_LINKS_DIM_LINKS_RULES_H_
#define MESHWRIGHT_COORDINATOR_IR_LINKS_DIM_LINKS_RULES_H_

#include <cstdint>
#include <vector>

#include "coordinator/ir/links/dim_link.h"
#include "coordinator/ir/module.h"

namespace meshwright::ir {

// Of operations that passed verification.
std::vector<DimLink> FindGatherLinks(const Module& module,
                                     const Instruction& it, int operand);
std::vector<DimLink> FindScatterLinks(const Module& module,
                                      const Instruction& it, int operand);
std::vector<DimLink> FindDynamicSliceLinks(const Module& module,
                                           const Instruction& it, int operand);
std::vector<DimLink> FindDynamicUpdateSliceLinks(const Module& module,
                                                 const Instruction& it,
                                                 int operand);
std::vector<DimLink> FindConvolutionLinks(const Module& module,
                                          const Instruction& it, int operand);
std::vector<DimLink> FindReduceWindowLinks(const Module& module,
                                           const Instruction& it, int operand);
std::vector<DimLink> FindSelectAndScatterLinks(const Module& module,
                                               const Instruction& it,
                                               int operand);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_LINKS_DIM_LINKS_RULES_H_
