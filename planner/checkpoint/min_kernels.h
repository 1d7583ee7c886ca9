// The inner loops of the slot table: out[i] = min(out[i], c + a[i] (+ b[i])).
//
// Concept: written once, compiled for the plain instruction set and for AVX2,
// and chosen by what the processor has. Both do the same additions in the same
// order, so they give the same bits. `out` does not overlap `a` or `b`.
#ifndef MESHWRIGHT_PLANNER_CHECKPOINT_MIN_KERNELS_H_
#define MESHWRIGHT_PLANNER_CHECKPOINT_MIN_KERNELS_H_

namespace meshwright::checkpoint {

struct MinKernels {
  void (*one)(float* out, const float* a, float c, int count);
  void (*both)(float* out, const float* a, const float* b, float c, int count);
};

MinKernels ChooseMinKernels();
// For tests, beside the one above.
MinKernels GetPlainMinKernels();

}  // namespace meshwright::checkpoint

#endif  // MESHWRIGHT_PLANNER_CHECKPOINT_MIN_KERNELS_H_
