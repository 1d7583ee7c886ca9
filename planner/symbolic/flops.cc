#include "planner/symbolic/flops.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "planner/problem/duration.h"

namespace meshwright::symbolic {
namespace {

using problem::SaturatingAdd;
using problem::SaturatingMultiply;
using Wide = __int128;

int64_t Product(std::initializer_list<int64_t> factors) {
  // A zero after an overflow still makes nothing of it.
  int64_t product = 1;
  for (int64_t factor : factors) {
    if (factor == 0) return 0;
    product = SaturatingMultiply(product, factor);
  }
  return product;
}

Wide DivideDown(Wide a, Wide b) { return a / b - (a % b != 0 && a < 0); }

// The x in [0, modulus) with x * value = 1; the two have no common divisor.
Wide Inverse(Wide value, Wide modulus) {
  Wide old_rest = modulus;
  Wide rest = value % modulus;
  Wide old_factor = 0;
  Wide factor = 1;
  while (rest != 0) {
    const Wide quotient = old_rest / rest;
    std::swap(old_rest -= quotient * rest, rest);
    std::swap(old_factor -= quotient * factor, factor);
  }
  return (old_factor % modulus + modulus) % modulus;
}

// How many i in [0, count) have offset + i * step in {0, period, 2 period, ...}
// below `limit`. Steps and periods are positive.
int64_t Hits(Wide offset, int64_t step, int64_t count, int64_t period,
             Wide limit) {
  if (count <= 0 || limit <= 0) return 0;
  const Wide first = std::max<Wide>(0, -DivideDown(offset, step));
  const Wide last =
      std::min<Wide>(Wide{count} - 1, DivideDown(limit - 1 - offset, step));
  if (first > last) return 0;
  // offset + i * step = 0 modulo period.
  const int64_t divisor = std::gcd(step, period);
  if (offset % divisor != 0) return 0;
  const Wide cycle = period / divisor;
  const Wide target = ((-offset / divisor) % cycle + cycle) % cycle;
  const Wide solution = target * Inverse(step / divisor, cycle) % cycle;
  const Wide start = first + ((solution - first) % cycle + cycle) % cycle;
  return start > last ? 0 : static_cast<int64_t>((last - start) / cycle + 1);
}

// log2, rounded up; 0 for one element or none.
int64_t CeilingLog2(int64_t value) {
  int64_t log = 0;
  while (log < 62 && (int64_t{1} << log) < value) ++log;
  return log;
}

}  // namespace

Counts Sum(const Counts& a, const Counts& b) {
  return {SaturatingAdd(a.flops, b.flops),
          SaturatingAdd(a.transcendentals, b.transcendentals)};
}

Counts ScaleCounts(const Counts& each, int64_t applications) {
  return {SaturatingMultiply(each.flops, applications),
          SaturatingMultiply(each.transcendentals, applications)};
}

Counts CountMatrixProductFlops(int64_t batch, int64_t rows, int64_t columns,
                               int64_t contracted) {
  return {Product({2, batch, rows, columns, contracted}), 0};
}

int64_t CountValidPositions(const WindowDim& dim) {
  // Element (o, k) of the pairs reads place o * stride + k * dilation - low of
  // the dilated input.
  const Wide limit =
      dim.input <= 0 ? 0 : Wide{dim.input - 1} * dim.base_dilation + 1;
  const bool by_kernel = dim.kernel <= dim.output;
  const int64_t outer = by_kernel ? dim.kernel : dim.output;
  const int64_t inner = by_kernel ? dim.output : dim.kernel;
  const int64_t outer_step = by_kernel ? dim.window_dilation : dim.stride;
  const int64_t inner_step = by_kernel ? dim.stride : dim.window_dilation;
  // Past this an input cannot be: it stops loops that hostile sizes would make.
  constexpr int64_t kMaxSteps = 1 << 20;
  if (outer > kMaxSteps) {
    return std::min(SaturatingMultiply(outer, inner),
                    SaturatingMultiply(outer, dim.input));
  }
  int64_t positions = 0;
  for (int64_t i = 0; i < outer; ++i) {
    positions = SaturatingAdd(
        positions, Hits(Wide{i} * outer_step - dim.padding_low, inner_step,
                        inner, dim.base_dilation, limit));
  }
  return positions;
}

Counts CountWindowedProductFlops(int64_t batch, int64_t columns,
                                 int64_t features,
                                 const std::vector<WindowDim>& window) {
  int64_t flops = Product({2, batch, columns, features});
  for (const WindowDim& dim : window) {
    flops = Product({flops, CountValidPositions(dim)});
  }
  return {flops, 0};
}

Counts CountSortFlops(int64_t rows, int64_t length) {
  return {Product({rows, length, CeilingLog2(length)}), 0};
}

Counts CountFourierFlops(int64_t elements, const std::vector<int64_t>& lengths,
                         bool real) {
  int64_t logs = 0;
  for (int64_t length : lengths) logs += CeilingLog2(length);
  const int64_t flops = Product({5, elements, logs});
  return {real ? flops / 2 : flops, 0};
}

Counts CountTriangularSolveFlops(int64_t batch, int64_t order, int64_t sides) {
  return {Product({batch, sides, order, order}), 0};
}

Counts CountCholeskyFlops(int64_t batch, int64_t order) {
  // n (n + 1) (2n + 1) / 6, without leaving 128 bits for any n below 2^41.
  if (order >= int64_t{1} << 41) return {Product({order, order, order}), 0};
  const Wide each = Wide{order} * (order + 1) * (2 * Wide{order} + 1) / 6;
  const int64_t held =
      each > INT64_MAX ? INT64_MAX : static_cast<int64_t>(each);
  return {Product({batch, held}), 0};
}

}  // namespace meshwright::symbolic
