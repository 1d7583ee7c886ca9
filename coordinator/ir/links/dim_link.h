// DimLink: one dimension of an operand that a split passes through to one
// dimension of its user (dim_links.h).
#ifndef MESHWRIGHT_COORDINATOR_IR_LINKS_DIM_LINK_H_
#define MESHWRIGHT_COORDINATOR_IR_LINKS_DIM_LINK_H_

#include <cstdint>

namespace meshwright::ir {

struct DimLink {
  int in = 0;   // dimension of the operand
  int out = 0;  // dimension of the user
  // Where not 0, P must divide it too: the groups of a convolution, the windows
  // of a select-and-scatter.
  int64_t groups = 0;
  bool operator==(const DimLink&) const = default;
};

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_LINKS_DIM_LINK_H_
