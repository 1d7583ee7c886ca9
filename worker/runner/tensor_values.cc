#include "worker/runner/tensor_values.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "worker/pjrt/element_type.h"
#include "worker/runner/small_floats.h"

namespace meshwright::worker::runner {
namespace {

// Calls `visit` with a value-initialised element of the type; false if the
// type has no arithmetic here.
template <typename Visit>
bool VisitType(hlo::PrimitiveType type, Visit visit) {
  switch (type) {
    case hlo::PRED:
      return visit(bool{}), true;
    case hlo::S4:  // a byte each, on the host
    case hlo::S8:
      return visit(int8_t{}), true;
    case hlo::S16:
      return visit(int16_t{}), true;
    case hlo::S32:
      return visit(int32_t{}), true;
    case hlo::S64:
      return visit(int64_t{}), true;
    case hlo::U4:
    case hlo::U8:
      return visit(uint8_t{}), true;
    case hlo::U16:
      return visit(uint16_t{}), true;
    case hlo::U32:
      return visit(uint32_t{}), true;
    case hlo::U64:
      return visit(uint64_t{}), true;
    case hlo::F8E5M2:
      return visit(Float8E5M2{}), true;
    case hlo::F8E4M3:
      return visit(Float8E4M3{}), true;
    case hlo::F8E4M3FN:
      return visit(Float8E4M3FN{}), true;
    case hlo::F8E3M4:
      return visit(Float8E3M4{}), true;
    case hlo::F16:
      return visit(Half{}), true;
    case hlo::BF16:
      return visit(Bfloat16{}), true;
    case hlo::F32:
      return visit(float{}), true;
    case hlo::F64:
      return visit(double{}), true;
    default:
      return false;
  }
}

template <typename T>
constexpr bool kIsFloat = !std::is_integral_v<T>;

template <typename T>
constexpr bool kIsSmallFloat = std::is_class_v<T>;

template <typename T>
T FromDouble(double value) {
  if constexpr (kIsSmallFloat<T>) {
    return T::From(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

template <typename T>
double ToDouble(T value) {
  if constexpr (kIsSmallFloat<T>) {
    return static_cast<float>(value);
  } else {
    return static_cast<double>(value);
  }
}

uint64_t SplitMix(uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// Four 16-bit uniforms: mean 2, variance 1/3.
float Normal(uint64_t random) {
  const auto sum =
      static_cast<int32_t>((random & 0xffff) + ((random >> 16) & 0xffff) +
                           ((random >> 32) & 0xffff) + (random >> 48));
  constexpr float kScale = 1.7320508f / 65536;
  return static_cast<float>(sum - 131070) * kScale;
}

template <typename T>
T Element(const v1::InputSpec& spec, double scale, uint64_t random) {
  if (spec.kind() == v1::InputSpec::CONSTANT) {
    return FromDouble<T>(spec.value());
  }
  if constexpr (std::is_same_v<T, bool>) {
    return (random >> 63) != 0;
  } else if constexpr (!kIsFloat<T>) {
    const auto bound = static_cast<uint64_t>(spec.bound());
    return static_cast<T>(spec.bound() > 0 ? random % bound : 0);
  } else {
    if (spec.kind() == v1::InputSpec::INDEX) {
      const auto bound = static_cast<uint64_t>(spec.bound());
      return FromDouble<T>(
          static_cast<double>(spec.bound() > 0 ? random % bound : 0));
    }
    const double normal = Normal(random) * scale;
    return FromDouble<T>(spec.kind() == v1::InputSpec::POSITIVE
                             ? std::abs(normal) + scale
                             : normal);
  }
}

// A complex number is two reals.
struct Reals {
  hlo::PrimitiveType type;
  int each = 1;
};

Reals FindReals(hlo::PrimitiveType type) {
  if (type == hlo::C64) return {hlo::F32, 2};
  if (type == hlo::C128) return {hlo::F64, 2};
  return {type};
}

// The range of a type that is narrower than its byte on the host.
void Narrow(hlo::PrimitiveType type, std::string& bytes) {
  for (char& it : bytes) {
    if (type == hlo::S4) {
      it = static_cast<char>(std::clamp<int>(static_cast<int8_t>(it), -8, 7));
    } else if (type == hlo::U4) {
      it = static_cast<char>(std::min<int>(static_cast<uint8_t>(it), 15));
    }
  }
}

}  // namespace

absl::StatusOr<pjrt::HostArray> MakeInput(const v1::InputSpec& spec,
                                          hlo::PrimitiveType type,
                                          std::vector<int64_t> dimensions) {
  pjrt::HostArray array;
  array.type = type;
  array.dimensions = std::move(dimensions);
  const Reals reals = FindReals(type);
  const int64_t count = array.ElementCount() * reals.each;
  array.bytes.resize(array.ElementCount() * pjrt::CountElementBytes(type));
  const double scale = (spec.scale() == 0 ? 1 : spec.scale()) /
                       std::sqrt(static_cast<double>(reals.each));
  const uint64_t base = SplitMix(spec.seed() ^ SplitMix(type));
  const bool is_real = spec.kind() == v1::InputSpec::CONSTANT;
  const bool known = VisitType(reals.type, [&](auto tag) {
    using T = decltype(tag);
    T* elements = reinterpret_cast<T*>(array.bytes.data());
    for (int64_t i = 0; i < count; ++i) {
      elements[i] =
          Element<T>(spec, scale, SplitMix(base + static_cast<uint64_t>(i)));
      if (is_real && i % reals.each != 0) elements[i] = FromDouble<T>(0);
    }
  });
  if (type == hlo::S4 || type == hlo::U4) Narrow(type, array.bytes);
  if (!known) {
    return absl::UnimplementedError(absl::StrCat(
        "inputs of type ", hlo::PrimitiveType_Name(type), " cannot be made"));
  }
  return array;
}

bool HasNan(const pjrt::HostArray& array) {
  bool found = false;
  const Reals reals = FindReals(array.type);
  VisitType(reals.type, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (kIsFloat<T>) {
      const T* elements = reinterpret_cast<const T*>(array.bytes.data());
      const int64_t count = array.ElementCount() * reals.each;
      for (int64_t i = 0; i < count; ++i) {
        found |= std::isnan(ToDouble(elements[i]));
      }
    }
  });
  return found;
}

namespace {

// As values: a NaN is a NaN, an infinity one of its sign.
bool IsSame(double value, double wanted) {
  return value == wanted || (std::isnan(value) && std::isnan(wanted));
}

}  // namespace

absl::StatusOr<double> ComputeRelativeDifference(
    const pjrt::HostArray& array, const pjrt::HostArray& reference) {
  if (array.type != reference.type ||
      array.dimensions != reference.dimensions) {
    return absl::InvalidArgumentError(
        "an output differs from the reference in type or shape");
  }
  double largest_difference = 0;
  double largest_reference = 0;
  const Reals reals = FindReals(array.type);
  const int64_t count = array.ElementCount() * reals.each;
  const bool known = VisitType(reals.type, [&](auto tag) {
    using T = decltype(tag);
    const T* a = reinterpret_cast<const T*>(array.bytes.data());
    const T* b = reinterpret_cast<const T*>(reference.bytes.data());
    for (int64_t i = 0; i < count; ++i) {
      const double value = ToDouble(a[i]);
      const double wanted = ToDouble(b[i]);
      if (std::isfinite(wanted)) {
        largest_reference = std::max(largest_reference, std::abs(wanted));
      }
      if (IsSame(value, wanted)) continue;
      const double difference = std::abs(value - wanted);
      largest_difference = std::isnan(difference)
                               ? HUGE_VAL
                               : std::max(largest_difference, difference);
    }
  });
  if (!known) {
    return absl::UnimplementedError(
        absl::StrCat("outputs of type ", hlo::PrimitiveType_Name(array.type),
                     " cannot be compared"));
  }
  return largest_reference > 0 ? largest_difference / largest_reference
                               : largest_difference;
}

}  // namespace meshwright::worker::runner
