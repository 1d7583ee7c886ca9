#include "planner/checkpoint/min_kernels.h"

#include <cstring>

namespace meshwright::checkpoint {
namespace {

#define MESHWRIGHT_INLINE inline __attribute__((always_inline))

// GCC and clang split a vector into what the instruction set has. Passed by
// reference: by value the calling convention would depend on it.
typedef float Vector __attribute__((vector_size(32)));
constexpr int kLanes = sizeof(Vector) / sizeof(float);

MESHWRIGHT_INLINE void Load(const float* from, Vector& to) {
  std::memcpy(&to, from, sizeof(Vector));
}

template <bool kBoth>
MESHWRIGHT_INLINE void Run(float* out, const float* a, const float* b, float c,
                           int count) {
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    Vector sum, old;
    Load(a + i, sum);
    sum += c;
    if constexpr (kBoth) {
      Vector more;
      Load(b + i, more);
      sum += more;
    }
    Load(out + i, old);
    sum = sum < old ? sum : old;
    std::memcpy(out + i, &sum, sizeof(Vector));
  }
  for (; i < count; ++i) {
    float sum = a[i] + c;
    if constexpr (kBoth) sum += b[i];
    out[i] = sum < out[i] ? sum : out[i];
  }
}

void OnePlain(float* out, const float* a, float c, int count) {
  Run<false>(out, a, nullptr, c, count);
}
void BothPlain(float* out, const float* a, const float* b, float c, int count) {
  Run<true>(out, a, b, c, count);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void OneAvx2(float* out, const float* a,
                                             float c, int count) {
  Run<false>(out, a, nullptr, c, count);
}
__attribute__((target("avx2"))) void BothAvx2(float* out, const float* a,
                                              const float* b, float c,
                                              int count) {
  Run<true>(out, a, b, c, count);
}
#endif

}  // namespace

MinKernels PlainMinKernels() { return {OnePlain, BothPlain}; }

MinKernels ChooseMinKernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return {OneAvx2, BothAvx2};
#endif
  return PlainMinKernels();
}

}  // namespace meshwright::checkpoint
