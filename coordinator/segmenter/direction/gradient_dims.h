// Gradient dimensions: what the dimensions of a backward contraction are in the
// forward one it differentiates.
//
// Concept: y = f(a, b); c multiplies the cotangent g of y with b and gives the
// gradient of a. A dimension of b that f contracts is one of the result of c. A
// free one of b is contracted with g in c. The common dimensions of f (batch,
// groups, spatial) are common in c, too. The dimensions of g that are still
// free are the free dimensions of a, in order. b is seen through layout
// operations. In a convolution, whose dimensions each have their own role, the
// roles alone decide, also behind the reshapes that regroup a grouped kernel.
// The output features inside a group have no dimension of their own and stay
// unknown.
// In -> Out: a pair of contractions -> the maps of a GradientMatch, or that the
// shapes and roles rule the pair out.
// Shapes, as far as known: `cotangent_dims[i]` is the dimension of y behind
// dimension i of the cotangent operand. `output_dims[i]` is the dimension of
// the differentiated operand behind dimension i of the result.
#ifndef MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_GRADIENT_DIMS_H_
#define MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_GRADIENT_DIMS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "coordinator/ir/module.h"

namespace meshwright::segmenter {

struct GradientMatch {
  ir::ValueId forward;
  bool recomputation = false;
  int differentiated = 0;     // 0: lhs of the forward contraction, 1: rhs
  int cotangent_operand = 0;  // operand number of g in the backward one
  std::vector<std::optional<int>> cotangent_dims;
  std::vector<std::optional<int>> output_dims;
};

// `read`: the operand of `forward` that `backward` reads, as its operand number
// 1 - cotangent_operand. `looks_left`: layout_walk.h.
std::optional<GradientMatch> DescribeGradient(
    const ir::Module& module, const std::vector<ir::ValueId>& classes,
    ir::ValueId backward, int cotangent_operand, ir::ValueId forward, int read,
    int64_t& looks_left);

}  // namespace meshwright::segmenter

#endif  // MESHWRIGHT_COORDINATOR_SEGMENTER_DIRECTION_GRADIENT_DIMS_H_
