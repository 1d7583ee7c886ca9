// Bits of the narrow floating-point types.
//
// Concept: every type of up to 16 bits is sign, exponent and mantissa with a
// bias; they differ in what stands for infinity and NaN. One rounding (to the
// nearest, ties to even) serves all.
// In -> Out: a double -> the bits of that type, in the low bits.
// Source: the OCP formats as ml_dtypes and XLA name them.
#ifndef MESHWRIGHT_COORDINATOR_IR_TEXT_NARROW_FLOAT_H_
#define MESHWRIGHT_COORDINATOR_IR_TEXT_NARROW_FLOAT_H_

#include <cstdint>
#include <optional>

#include "proto/hlo/hlo.pb.h"

namespace meshwright::ir {

struct NarrowFloat {
  enum class Specials {
    kIeee,          // infinities and NaNs
    kOneNan,        // fn: all ones is NaN, no infinity
    kNegativeZero,  // fnuz: the negative zero's bits are NaN, no infinity
    kNone,          // neither
  };
  int exponent_bits = 0;
  int mantissa_bits = 0;
  int bias = 0;
  Specials specials = Specials::kIeee;
  bool has_sign = true;
};

// Nothing for types that are not narrow floats.
std::optional<NarrowFloat> FindNarrowFloat(hlo::PrimitiveType type);

uint16_t EncodeNarrow(double value, const NarrowFloat& type);
// `payload` 0 gives the quiet NaN.
uint16_t NarrowNan(bool negative, uint64_t payload, const NarrowFloat& type);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_TEXT_NARROW_FLOAT_H_
