#include "worker/runner/tensor_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace meshwright::worker::runner {
namespace {

template <typename T>
std::vector<T> Values(const pjrt::HostArray& array) {
  std::vector<T> values(array.ElementCount());
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

v1::InputSpec Spec(v1::InputSpec::Kind kind, uint64_t seed) {
  v1::InputSpec spec;
  spec.set_kind(kind);
  spec.set_seed(seed);
  return spec;
}

TEST(TensorValuesTest, NormalHasItsMoments) {
  v1::InputSpec spec = Spec(v1::InputSpec::NORMAL, 7);
  spec.set_scale(3);
  const auto values = Values<float>(*MakeInput(spec, hlo::F32, {100, 1000}));
  double sum = 0;
  double squares = 0;
  for (const float value : values) {
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / 1e5, 0, 0.05);
  EXPECT_NEAR(std::sqrt(squares / 1e5), 3, 0.05);
}

TEST(TensorValuesTest, EqualSeedsGiveEqualTensors) {
  const v1::InputSpec spec = Spec(v1::InputSpec::NORMAL, 7);
  EXPECT_EQ(MakeInput(spec, hlo::F32, {40})->bytes,
            MakeInput(spec, hlo::F32, {8, 5})->bytes);
  EXPECT_NE(MakeInput(spec, hlo::F32, {40})->bytes,
            MakeInput(Spec(v1::InputSpec::NORMAL, 8), hlo::F32, {40})->bytes);
}

TEST(TensorValuesTest, IndicesStayInRange) {
  v1::InputSpec spec = Spec(v1::InputSpec::INDEX, 1);
  spec.set_bound(5);
  std::vector<int> seen(5, 0);
  for (const int32_t value :
       Values<int32_t>(*MakeInput(spec, hlo::S32, {200}))) {
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 5);
    ++seen[value];
  }
  for (const int count : seen) EXPECT_GT(count, 0);
}

TEST(TensorValuesTest, PositiveIsPositiveInEveryFloat) {
  const v1::InputSpec spec = Spec(v1::InputSpec::POSITIVE, 3);
  for (const double value : Values<double>(*MakeInput(spec, hlo::F64, {99}))) {
    EXPECT_GT(value, 0);
  }
  for (const auto type : {hlo::BF16, hlo::F16}) {
    for (const uint16_t bits : Values<uint16_t>(*MakeInput(spec, type, {99}))) {
      EXPECT_EQ(bits & 0x8000, 0);
    }
  }
}

TEST(TensorValuesTest, ConstantsInEveryType) {
  v1::InputSpec spec = Spec(v1::InputSpec::CONSTANT, 0);
  spec.set_value(3);
  EXPECT_EQ(Values<int8_t>(*MakeInput(spec, hlo::S8, {1}))[0], 3);
  EXPECT_EQ(Values<uint64_t>(*MakeInput(spec, hlo::U64, {}))[0], 3u);
  EXPECT_EQ(Values<uint16_t>(*MakeInput(spec, hlo::BF16, {1}))[0], 0x4040);
  EXPECT_EQ(Values<uint16_t>(*MakeInput(spec, hlo::F16, {1}))[0], 0x4200);
  EXPECT_EQ(MakeInput(spec, hlo::TOKEN, {1}).status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST(TensorValuesTest, SmallFloatsRoundTowardsZeroAndStayFinite) {
  const auto bits = [](hlo::PrimitiveType type, double value) {
    v1::InputSpec spec = Spec(v1::InputSpec::CONSTANT, 0);
    spec.set_value(value);
    return Values<uint8_t>(*MakeInput(spec, type, {1}))[0];
  };
  EXPECT_EQ(bits(hlo::F8E5M2, 3), 0x42);
  EXPECT_EQ(bits(hlo::F8E4M3FN, 3), 0x44);
  EXPECT_EQ(bits(hlo::F8E4M3FN, -3.2), 0xc4);
  EXPECT_EQ(bits(hlo::F8E4M3, 3), 0x44);
  EXPECT_EQ(bits(hlo::F8E3M4, 3), 0x48);
  EXPECT_EQ(bits(hlo::F8E4M3FN, 1e6), 0x7e);  // 448
  EXPECT_EQ(bits(hlo::F8E5M2, 1e6), 0x7b);    // 57344
  EXPECT_EQ(bits(hlo::F8E4M3, 1e6), 0x77);    // 240
  EXPECT_EQ(bits(hlo::F8E5M2, 1e-9), 0);
  EXPECT_EQ(bits(hlo::S4, 100), 7);
  EXPECT_EQ(bits(hlo::S4, -3), 0xfd);
  EXPECT_EQ(bits(hlo::U4, 100), 15);
}

// Every bit pattern of 8 bits comes back as it was, through float.
TEST(TensorValuesTest, SmallFloatsAreComparedByValue) {
  for (const auto type :
       {hlo::F8E5M2, hlo::F8E4M3FN, hlo::F8E4M3, hlo::F8E3M4}) {
    pjrt::HostArray all =
        *MakeInput(Spec(v1::InputSpec::NORMAL, 1), type, {256});
    for (int i = 0; i < 256; ++i) all.bytes[i] = static_cast<char>(i);
    EXPECT_EQ(*ComputeRelativeDifference(all, all), 0);
    EXPECT_TRUE(HasNan(all));
    pjrt::HostArray other = all;
    other.bytes[1] = 2;  // one step of the smallest numbers
    EXPECT_GT(*ComputeRelativeDifference(other, all), 0);
  }
}

TEST(TensorValuesTest, ComplexNumbersHaveTwoParts) {
  const pjrt::HostArray drawn =
      *MakeInput(Spec(v1::InputSpec::NORMAL, 1), hlo::C64, {100, 1000});
  double squares = 0;
  for (int i = 0; i < 200'000; ++i) {
    float part;
    std::memcpy(&part, drawn.bytes.data() + i * sizeof(part), sizeof(part));
    squares += part * part;
  }
  EXPECT_NEAR(std::sqrt(squares / 1e5), 1, 0.02);
  v1::InputSpec three = Spec(v1::InputSpec::CONSTANT, 0);
  three.set_value(3);
  pjrt::HostArray wanted = *MakeInput(three, hlo::C128, {1});
  double parts[2];
  std::memcpy(parts, wanted.bytes.data(), sizeof(parts));
  EXPECT_EQ(parts[0], 3);
  EXPECT_EQ(parts[1], 0);
  pjrt::HostArray got = wanted;
  parts[1] = -1.5;
  std::memcpy(got.bytes.data(), parts, sizeof(parts));
  EXPECT_DOUBLE_EQ(*ComputeRelativeDifference(got, wanted), 0.5);
  EXPECT_FALSE(HasNan(got));
  parts[1] = std::nan("");
  std::memcpy(got.bytes.data(), parts, sizeof(parts));
  EXPECT_TRUE(HasNan(got));
}

TEST(TensorValuesTest, FindsNan) {
  v1::InputSpec spec = Spec(v1::InputSpec::CONSTANT, 0);
  spec.set_value(std::numeric_limits<double>::quiet_NaN());
  for (const auto type : {hlo::F32, hlo::F64, hlo::BF16, hlo::F16}) {
    pjrt::HostArray array = *MakeInput(spec, type, {3});
    if (type == hlo::F16) array.bytes.assign("\0\0\0\0\1\x7c", 6);
    EXPECT_TRUE(HasNan(array)) << type;
  }
  EXPECT_FALSE(
      HasNan(*MakeInput(Spec(v1::InputSpec::NORMAL, 1), hlo::F32, {1000})));
}

TEST(TensorValuesTest, DifferenceIsRelativeToTheLargest) {
  v1::InputSpec four = Spec(v1::InputSpec::CONSTANT, 0);
  four.set_value(4);
  v1::InputSpec five = four;
  five.set_value(5);
  const auto reference = MakeInput(four, hlo::F32, {2});
  EXPECT_DOUBLE_EQ(
      *ComputeRelativeDifference(*MakeInput(five, hlo::F32, {2}), *reference),
      0.25);
  EXPECT_FALSE(
      ComputeRelativeDifference(*MakeInput(five, hlo::F32, {3}), *reference)
          .ok());
  EXPECT_FALSE(
      ComputeRelativeDifference(*MakeInput(five, hlo::S32, {2}), *reference)
          .ok());
}

TEST(TensorValuesTest, NanAndInfinitiesAreComparedAsValues) {
  const auto array = [](float first, float second) {
    pjrt::HostArray made =
        *MakeInput(Spec(v1::InputSpec::CONSTANT, 0), hlo::F32, {2});
    float values[2] = {first, second};
    std::memcpy(made.bytes.data(), values, sizeof(values));
    return made;
  };
  const float nan = std::nanf("");
  EXPECT_EQ(*ComputeRelativeDifference(array(nan, 4), array(nan, 4)), 0);
  EXPECT_EQ(*ComputeRelativeDifference(array(nan, 5), array(nan, 4)), 0.25);
  EXPECT_EQ(*ComputeRelativeDifference(array(nan, 4), array(1, 4)), HUGE_VAL);
  EXPECT_EQ(*ComputeRelativeDifference(array(1, 4), array(nan, 4)), HUGE_VAL);
  EXPECT_EQ(*ComputeRelativeDifference(array(1, nan), array(3, 4)), HUGE_VAL);
  EXPECT_EQ(*ComputeRelativeDifference(array(INFINITY, 5), array(INFINITY, 4)),
            0.25);
  EXPECT_EQ(*ComputeRelativeDifference(array(-INFINITY, 4), array(INFINITY, 4)),
            HUGE_VAL);
}

}  // namespace
}  // namespace meshwright::worker::runner
