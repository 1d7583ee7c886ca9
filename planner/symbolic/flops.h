// Flops: how much arithmetic an operation does, from its extents.
//
// Concept: a multiplication and an addition are one FLOP each; functions like
// exp and tanh are counted apart. Counts are those of XLA's HloCostAnalysis,
// but where that guesses and the exact number has a closed form: sort,
// transforms, solves (docs/decisions/op-level-plans.md).
// Units: operations. Everything saturates at the largest int64_t; extents are
// not negative.
// Source: papers/map_colossal_auto.txt 4.1.
#ifndef MESHWRIGHT_PLANNER_SYMBOLIC_FLOPS_H_
#define MESHWRIGHT_PLANNER_SYMBOLIC_FLOPS_H_

#include <cstdint>
#include <vector>

namespace meshwright::symbolic {

struct Counts {
  int64_t flops = 0;
  int64_t transcendentals = 0;

  bool operator==(const Counts&) const = default;
};

Counts Sum(const Counts& a, const Counts& b);
// A function that is applied so often.
Counts ScaleCounts(const Counts& each, int64_t applications);

// Products of a matrix of `rows` x `contracted` with one of `contracted` x
// `columns`, `batch` of them.
Counts CountMatrixProductFlops(int64_t batch, int64_t rows, int64_t columns,
                               int64_t contracted);

// One spatial dimension of a convolution.
struct WindowDim {
  int64_t input = 1;
  int64_t kernel = 1;
  int64_t output = 1;
  int64_t stride = 1;
  int64_t padding_low = 0;  // may be negative
  int64_t window_dilation = 1;
  int64_t base_dilation = 1;
};

// Pairs of an output and a kernel position that meet an element of the input,
// not padding or a hole of dilation. Linear in the smaller of the two.
int64_t CountValidPositions(const WindowDim& dim);

// `features` are contracted for every one of `batch` x `columns` outputs and
// every valid position.
Counts CountWindowedProductFlops(int64_t batch, int64_t columns,
                                 int64_t features,
                                 const std::vector<WindowDim>& window);

// Comparisons of sorting `rows` runs of `length` elements.
Counts CountSortFlops(int64_t rows, int64_t length);

// Transforms of the innermost dimensions of `elements` numbers, one length per
// dimension. `real`: one side holds real numbers.
Counts CountFourierFlops(int64_t elements, const std::vector<int64_t>& lengths,
                         bool real);

// Triangular systems of `order` unknowns with `sides` right-hand sides each.
Counts CountTriangularSolveFlops(int64_t batch, int64_t order, int64_t sides);

Counts CountCholeskyFlops(int64_t batch, int64_t order);

}  // namespace meshwright::symbolic

#endif  // MESHWRIGHT_PLANNER_SYMBOLIC_FLOPS_H_
