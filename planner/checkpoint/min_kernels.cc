#include "planner/checkpoint/min_kernels.h"

#include <cstdint>
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
MESHWRIGHT_INLINE void Step(float* out, const float* a, const float* b,
                            float c) {
  Vector sum, old;
  Load(a, sum);
  sum += c;
  if constexpr (kBoth) {
    Vector more;
    Load(b, more);
    sum += more;
  }
  Load(out, old);
  sum = sum < old ? sum : old;
  std::memcpy(out, &sum, sizeof(Vector));
}

// The first and the last step overlap the others, which a minimum allows, so
// that those in between write whole lines of the cache.
template <bool kBoth>
MESHWRIGHT_INLINE void Run(float* out, const float* a, const float* b, float c,
                           int count) {
  if (count >= kLanes) {
    Step<kBoth>(out, a, b, c);
    const auto address = reinterpret_cast<uintptr_t>(out);
    int i = kLanes - static_cast<int>(address % sizeof(Vector) / sizeof(float));
    for (; i + kLanes <= count; i += kLanes) {
      Step<kBoth>(out + i, a + i, kBoth ? b + i : b, c);
    }
    const int last = count - kLanes;
    Step<kBoth>(out + last, a + last, kBoth ? b + last : b, c);
    return;
  }
  for (int i = 0; i < count; ++i) {
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

MinKernels GetPlainMinKernels() { return {OnePlain, BothPlain}; }

MinKernels ChooseMinKernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return {OneAvx2, BothAvx2};
#endif
  return GetPlainMinKernels();
}

}  // namespace meshwright::checkpoint
