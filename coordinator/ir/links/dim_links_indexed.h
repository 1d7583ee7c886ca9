// Dimension links of operations whose indices are data: gather, scatter,
// dynamic-slice and dynamic-update-slice.
//
// Concept: a dimension that indices point into passes no split to what is read
// from it, since any part may be meant. What is written by index stays where it
// was: an indexed dimension of a scatter's input passes, and each part takes
// the updates that fall into it.
// Source: the definitions of gather and scatter in HLO.
#ifndef MESHWRIGHT_COORDINATOR_IR_LINKS_DIM_LINKS_INDEXED_H_
#define MESHWRIGHT_COORDINATOR_IR_LINKS_DIM_LINKS_INDEXED_H_

#include <vector>

#include "coordinator/ir/links/dim_link.h"
#include "coordinator/ir/module.h"

namespace meshwright::ir {

// Of operations that passed verification.
std::vector<DimLink> GatherLinks(const Module& module, const Instruction& it,
                                 int operand);
std::vector<DimLink> ScatterLinks(const Module& module, const Instruction& it,
                                  int operand);
std::vector<DimLink> DynamicSliceLinks(const Module& module,
                                       const Instruction& it, int operand);
std::vector<DimLink> DynamicUpdateSliceLinks(const Module& module,
                                             const Instruction& it,
                                             int operand);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_LINKS_DIM_LINKS_INDEXED_H_
