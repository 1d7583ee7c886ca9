// Floats of 8 and 16 bits as storage: arithmetic goes through float.
//
// Concept: sign, exponent and mantissa as IEEE 754 has them. Formats without
// infinities (FN) use their last exponent for numbers as well, and have one
// NaN. From rounds towards zero, below the normal range to zero, beyond the
// range to the largest number; Bfloat16 rounds to the nearest. Source: IEEE
// 754; Micikevicius et al., FP8 Formats for Deep Learning (2022).
#ifndef MESHWRIGHT_WORKER_RUNNER_SMALL_FLOATS_H_
#define MESHWRIGHT_WORKER_RUNNER_SMALL_FLOATS_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace meshwright::worker::runner {

template <typename Bits, int kExponentBits, int kMantissaBits,
          bool kHasInfinities>
struct SmallFloat {
  Bits bits;

  explicit operator float() const {
    const int exponent = (bits >> kMantissaBits) & kLastExponent;
    const int fraction = bits & kMantissa;
    const float sign = (bits >> kSignBit) != 0 ? -1.0f : 1.0f;
    if (exponent == kLastExponent) {
      if (fraction == (kHasInfinities ? 0 : kMantissa)) {
        return kHasInfinities ? sign * INFINITY : std::nanf("");
      }
      if (kHasInfinities) return std::nanf("");
    }
    if (exponent == 0) {
      return sign * std::ldexp(static_cast<float>(fraction),
                               1 - kBias - kMantissaBits);
    }
    return sign * std::ldexp(static_cast<float>(kMantissa + 1 + fraction),
                             exponent - kBias - kMantissaBits);
  }

  static SmallFloat From(float value) {
    const auto word = std::bit_cast<uint32_t>(value);
    const uint32_t sign = (word >> 31) << kSignBit;
    const int exponent = static_cast<int>((word >> 23) & 255) - 127 + kBias;
    if (exponent < 1) return {static_cast<Bits>(sign)};
    const uint32_t magnitude =
        (static_cast<uint32_t>(exponent) << kMantissaBits) |
        ((word >> (23 - kMantissaBits)) & kMantissa);
    return {static_cast<Bits>(sign | std::min(magnitude, kLargest))};
  }

 private:
  static constexpr int kSignBit = kExponentBits + kMantissaBits;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr int kLastExponent = (1 << kExponentBits) - 1;
  static constexpr int kMantissa = (1 << kMantissaBits) - 1;
  static constexpr uint32_t kLargest =
      kHasInfinities ? (kLastExponent << kMantissaBits) - 1
                     : ((kLastExponent + 1) << kMantissaBits) - 2;
};

using Half = SmallFloat<uint16_t, 5, 10, true>;
using Float8E5M2 = SmallFloat<uint8_t, 5, 2, true>;
using Float8E4M3 = SmallFloat<uint8_t, 4, 3, true>;
using Float8E4M3FN = SmallFloat<uint8_t, 4, 3, false>;
using Float8E3M4 = SmallFloat<uint8_t, 3, 4, true>;

struct Bfloat16 {
  uint16_t bits;

  explicit operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
  static Bfloat16 From(float value) {
    const auto word = std::bit_cast<uint32_t>(value);
    return {static_cast<uint16_t>((word + 0x7fff + ((word >> 16) & 1)) >> 16)};
  }
};

}  // namespace meshwright::worker::runner

#endif  // MESHWRIGHT_WORKER_RUNNER_SMALL_FLOATS_H_
