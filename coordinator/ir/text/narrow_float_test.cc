#include "coordinator/ir/text/narrow_float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace meshwright::ir {
namespace {

using Specials = NarrowFloat::Specials;

constexpr hlo::PrimitiveType kTypes[] = {
    hlo::F16,        hlo::BF16,     hlo::F8E5M2,        hlo::F8E4M3,
    hlo::F8E3M4,     hlo::F8E4M3FN, hlo::F8E4M3B11FNUZ, hlo::F8E4M3FNUZ,
    hlo::F8E5M2FNUZ, hlo::F4E2M1FN, hlo::F8E8M0FNU};

// The value of some bits, by the definition of the formats.
double Decode(uint32_t bits, const NarrowFloat& type) {
  const uint32_t mantissa = bits & ((1u << type.mantissa_bits) - 1);
  const uint32_t exponent =
      (bits >> type.mantissa_bits) & ((1u << type.exponent_bits) - 1);
  const bool negative =
      type.has_sign && bits >> (type.exponent_bits + type.mantissa_bits) != 0;
  const uint32_t all_ones = (1u << type.exponent_bits) - 1;
  double value = 0;
  if (type.mantissa_bits == 0) {
    value = exponent == all_ones
                ? std::numeric_limits<double>::quiet_NaN()
                : std::ldexp(1.0, static_cast<int>(exponent) - type.bias);
  } else if (type.specials == Specials::kIeee && exponent == all_ones) {
    value = mantissa == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  } else if (type.specials == Specials::kOneNan && exponent == all_ones &&
             mantissa + 1 == 1u << type.mantissa_bits) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (type.specials == Specials::kNegativeZero && negative &&
             exponent == 0 && mantissa == 0) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, 1 - type.bias - type.mantissa_bits);
  } else {
    value =
        std::ldexp(mantissa + (1u << type.mantissa_bits),
                   static_cast<int>(exponent) - type.bias - type.mantissa_bits);
  }
  return negative ? -value : value;
}

uint32_t Patterns(const NarrowFloat& type) {
  return 1u << (type.exponent_bits + type.mantissa_bits + type.has_sign);
}

TEST(NarrowFloatTest, EveryFiniteValueKeepsItsBits) {
  for (const hlo::PrimitiveType name : kTypes) {
    const NarrowFloat type = *FindNarrowFloat(name);
    for (uint32_t bits = 0; bits < Patterns(type); ++bits) {
      const double value = Decode(bits, type);
      if (std::isnan(value)) continue;
      ASSERT_EQ(EncodeNarrow(value, type), bits)
          << hlo::PrimitiveType_Name(name) << " " << value;
    }
  }
}

TEST(NarrowFloatTest, WhatLiesBetweenGoesToTheNearestAndTiesToTheEvenOne) {
  for (const hlo::PrimitiveType name : kTypes) {
    const NarrowFloat type = *FindNarrowFloat(name);
    const uint32_t positive = 1u << (type.exponent_bits + type.mantissa_bits);
    for (uint32_t bits = 0; bits + 1 < positive; ++bits) {
      const double low = Decode(bits, type);
      const double high = Decode(bits + 1, type);
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const double middle = (low + high) / 2;
      const std::string where =
          hlo::PrimitiveType_Name(name) + " " + std::to_string(bits);
      EXPECT_EQ(EncodeNarrow(std::nextafter(middle, low), type), bits) << where;
      EXPECT_EQ(EncodeNarrow(std::nextafter(middle, high), type), bits + 1)
          << where;
      // A power of two has no even neighbour to prefer; the upper one is taken.
      if (type.mantissa_bits > 0) {
        EXPECT_EQ(EncodeNarrow(middle, type), bits + bits % 2) << where;
      }
    }
  }
}

TEST(NarrowFloatTest, WhatIsTooLargeBecomesInfinityNanOrTheLargest) {
  const auto encode = [](hlo::PrimitiveType name, double value) {
    const NarrowFloat type = *FindNarrowFloat(name);
    return Decode(EncodeNarrow(value, type), type);
  };
  EXPECT_EQ(encode(hlo::F16, 65520), std::numeric_limits<double>::infinity());
  EXPECT_EQ(encode(hlo::BF16, -1e300),
            -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(encode(hlo::F8E4M3FN, 1e6)));
  EXPECT_TRUE(std::isnan(encode(hlo::F8E5M2FNUZ, -1e6)));
  EXPECT_EQ(encode(hlo::F4E2M1FN, 100), 6);
}

TEST(NarrowFloatTest, OtherTypesAreNotNarrowFloats) {
  EXPECT_FALSE(FindNarrowFloat(hlo::F32).has_value());
  EXPECT_FALSE(FindNarrowFloat(hlo::S8).has_value());
}

}  // namespace
}  // namespace meshwright::ir
