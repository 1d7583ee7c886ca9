#include "planner/search/graph/min_plus.h"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace meshwright::search {
namespace {

void MinOverRowsPlain(const Rows& rows, const Cost* base, Cost* out, int from) {
  for (int j = 0; j < rows.count; ++j) {
    if (base[j] >= kNever) continue;
    const Cost* const row = rows.first + j * rows.stride;
    for (int i = from; i < rows.columns; ++i) {
      out[i] = std::min(out[i], base[j] + row[i]);
    }
  }
}

Cost MinOfSum(const Cost* row, const Cost* next, int from, int columns) {
  Cost best = kNever;
  for (int i = from; i < columns; ++i) best = std::min(best, row[i] + next[i]);
  return best;
}

void MinOverColumnsPlain(const Rows& rows, const Cost* next, Cost* out) {
  for (int j = 0; j < rows.count; ++j) {
    out[j] = MinOfSum(rows.first + j * rows.stride, next, 0, rows.columns);
  }
}

#if defined(__x86_64__)

constexpr int kLanes = 4;
constexpr int kBlocks = 6;  // registers that hold `out` over all rows

__attribute__((target("avx2"))) inline __m256i Load(const Cost* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

__attribute__((target("avx2"))) inline void Store(Cost* to, __m256i value) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
}

__attribute__((target("avx2"))) inline __m256i Min(__m256i a, __m256i b) {
  return _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(a, b));
}

template <int kCount>
__attribute__((target("avx2"))) void MinOverRowsBlock(const Rows& rows,
                                                      const Cost* base,
                                                      Cost* out, int from) {
  __m256i held[kCount];
  for (int b = 0; b < kCount; ++b) held[b] = Load(out + from + b * kLanes);
  const Cost* row = rows.first + from;
  for (int j = 0; j < rows.count; ++j, row += rows.stride) {
    if (base[j] >= kNever) continue;
    const __m256i add = _mm256_set1_epi64x(base[j]);
    for (int b = 0; b < kCount; ++b) {
      held[b] = Min(held[b], _mm256_add_epi64(add, Load(row + b * kLanes)));
    }
  }
  for (int b = 0; b < kCount; ++b) Store(out + from + b * kLanes, held[b]);
}

__attribute__((target("avx2"))) void MinOverRowsWide(const Rows& rows,
                                                     const Cost* base,
                                                     Cost* out) {
  int at = 0;
  for (; at + kBlocks * kLanes <= rows.columns; at += kBlocks * kLanes) {
    MinOverRowsBlock<kBlocks>(rows, base, out, at);
  }
  if (at + 3 * kLanes <= rows.columns) {
    MinOverRowsBlock<3>(rows, base, out, at);
    at += 3 * kLanes;
  }
  for (; at + kLanes <= rows.columns; at += kLanes) {
    MinOverRowsBlock<1>(rows, base, out, at);
  }
  if (at < rows.columns) MinOverRowsPlain(rows, base, out, at);
}

__attribute__((target("avx2"))) void MinOverColumnsWide(const Rows& rows,
                                                        const Cost* next,
                                                        Cost* out) {
  const Cost* row = rows.first;
  for (int j = 0; j < rows.count; ++j, row += rows.stride) {
    __m256i a = _mm256_set1_epi64x(kNever);
    __m256i b = a;
    int at = 0;
    for (; at + 2 * kLanes <= rows.columns; at += 2 * kLanes) {
      a = Min(a, _mm256_add_epi64(Load(row + at), Load(next + at)));
      b = Min(b, _mm256_add_epi64(Load(row + at + kLanes),
                                  Load(next + at + kLanes)));
    }
    if (at + kLanes <= rows.columns) {
      a = Min(a, _mm256_add_epi64(Load(row + at), Load(next + at)));
      at += kLanes;
    }
    Cost lanes[kLanes];
    Store(lanes, Min(a, b));
    Cost best = MinOfSum(row, next, at, rows.columns);
    for (const Cost lane : lanes) best = std::min(best, lane);
    out[j] = best;
  }
}

#endif

struct Chosen {
  void (*over_rows)(const Rows&, const Cost*,
                    Cost*) = [](const Rows& rows, const Cost* base, Cost* out) {
    MinOverRowsPlain(rows, base, out, 0);
  };
  void (*over_columns)(const Rows&, const Cost*, Cost*) = MinOverColumnsPlain;
};

const Chosen& Kernels() {
  static const Chosen chosen = [] {
    Chosen made;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
      made = {MinOverRowsWide, MinOverColumnsWide};
    }
#endif
    return made;
  }();
  return chosen;
}

}  // namespace

void MinOverRows(const Rows& rows, const Cost* base, Cost* out) {
  Kernels().over_rows(rows, base, out);
}

void MinOverColumns(const Rows& rows, const Cost* next, Cost* out) {
  Kernels().over_columns(rows, next, out);
}

std::vector<Cost> MinPlus(const MatrixView& link,
                          const std::vector<Cost>& next) {
  const Matrix& matrix = *link.matrix;
  const Rows rows{matrix.entries.data(), matrix.columns, matrix.rows,
                  matrix.columns};
  if (link.transposed) {
    std::vector<Cost> out(matrix.columns, kNever);
    MinOverRows(rows, next.data(), out.data());
    return out;
  }
  std::vector<Cost> out(matrix.rows);
  MinOverColumns(rows, next.data(), out.data());
  return out;
}

}  // namespace meshwright::search
