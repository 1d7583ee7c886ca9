#include "coordinator/ir/text/narrow_float.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace meshwright::ir {
namespace {

using Specials = NarrowFloat::Specials;

// Largest bits below those of infinity or NaN, without the sign.
uint32_t LargestFinite(const NarrowFloat& type) {
  const uint32_t all = (1u << (type.exponent_bits + type.mantissa_bits)) - 1;
  switch (type.specials) {
    case Specials::kIeee:
      return all - (1u << type.mantissa_bits);
    case Specials::kOneNan:
      return all - 1;
    case Specials::kNegativeZero:
    case Specials::kNone:
      return all;
  }
  return all;
}

uint32_t SignBit(bool negative, const NarrowFloat& type) {
  if (!negative || !type.has_sign) return 0;
  return 1u << (type.exponent_bits + type.mantissa_bits);
}

}  // namespace

std::optional<NarrowFloat> FindNarrowFloat(hlo::PrimitiveType type) {
  static const auto* const types =
      new std::map<hlo::PrimitiveType, NarrowFloat>{
          {hlo::F16, {5, 10, 15, Specials::kIeee}},
          {hlo::BF16, {8, 7, 127, Specials::kIeee}},
          {hlo::F8E5M2, {5, 2, 15, Specials::kIeee}},
          {hlo::F8E4M3, {4, 3, 7, Specials::kIeee}},
          {hlo::F8E3M4, {3, 4, 3, Specials::kIeee}},
          {hlo::F8E4M3FN, {4, 3, 7, Specials::kOneNan}},
          {hlo::F8E4M3B11FNUZ, {4, 3, 11, Specials::kNegativeZero}},
          {hlo::F8E4M3FNUZ, {4, 3, 8, Specials::kNegativeZero}},
          {hlo::F8E5M2FNUZ, {5, 2, 16, Specials::kNegativeZero}},
          {hlo::F4E2M1FN, {2, 1, 1, Specials::kNone}},
          {hlo::F8E8M0FNU, {8, 0, 127, Specials::kOneNan, /*has_sign=*/false}},
      };
  const auto found = types->find(type);
  if (found == types->end()) return std::nullopt;
  return found->second;
}

uint16_t NarrowNan(bool negative, uint64_t payload, const NarrowFloat& type) {
  const uint32_t mantissa = (1u << type.mantissa_bits) - 1;
  const uint32_t exponent = ((1u << type.exponent_bits) - 1)
                            << type.mantissa_bits;
  switch (type.specials) {
    case Specials::kIeee: {
      uint32_t bits = static_cast<uint32_t>(payload) & mantissa;
      if (bits == 0) bits = 1u << (type.mantissa_bits - 1);
      return SignBit(negative, type) | exponent | bits;
    }
    case Specials::kOneNan:
      return SignBit(negative, type) | exponent | mantissa;
    case Specials::kNegativeZero:
      return SignBit(true, type);
    case Specials::kNone:
      return SignBit(true, type);
  }
  return 0;
}

uint16_t EncodeNarrow(double value, const NarrowFloat& type) {
  const bool negative = std::signbit(value);
  const double size = std::abs(value);
  const uint32_t sign = SignBit(negative, type);
  if (std::isnan(value)) return NarrowNan(negative, 0, type);
  const uint32_t largest = LargestFinite(type);
  uint32_t bits = largest + 1;  // infinity, where there is one
  if (!std::isinf(size)) {
    // A type without mantissa and sign has no zero and no subnormals.
    const bool powers_only = type.mantissa_bits == 0;
    int exponent = size == 0 ? -type.bias : std::ilogb(size);
    const int minimum = powers_only ? -type.bias : 1 - type.bias;
    exponent = std::max(exponent, minimum);
    const double scaled =
        std::nearbyint(std::ldexp(size, type.mantissa_bits - exponent));
    // Adding lets a mantissa that rounds up carry into the exponent, and a
    // subnormal one start from exponent zero.
    const int64_t biased =
        int64_t{exponent} + type.bias - (powers_only ? 0 : 1);
    const int64_t whole = (biased << type.mantissa_bits) +
                          static_cast<int64_t>(scaled) - (powers_only ? 1 : 0);
    bits = static_cast<uint32_t>(std::clamp<int64_t>(whole, 0, largest + 1));
  }
  if (bits > largest) {
    if (type.specials == Specials::kIeee) return sign | (largest + 1);
    if (type.specials == Specials::kNone) return sign | largest;
    return NarrowNan(negative, 0, type);
  }
  if (bits == 0 && type.specials == Specials::kNegativeZero) return 0;
  return sign | bits;
}

}  // namespace meshwright::ir
