#include "coordinator/ir/text/enumerated_attributes.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::ir {
namespace {

using Enumerators = std::vector<std::pair<std::string_view, int>>;

absl::StatusOr<int> ReadEnumerator(TextCursor& value,
                                   const Enumerators& enumerators) {
  const TextCursor start = value;
  const std::string_view word = value.Word();
  for (const auto& [name, number] : enumerators) {
    if (word == name) return number;
  }
  return start.Error(absl::StrCat("'", std::string(word.substr(0, 80)),
                                  "' is no known choice here"));
}

template <typename Message>
absl::Status SetFlag(TextCursor& value, Message& message,
                     void (Message::*set)(bool)) {
  ASSIGN_OR_RETURN(const bool flag, value.Boolean());
  (message.*set)(flag);
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadOperandPrecision(TextCursor& value,
                                  hlo::HloInstructionProto& it) {
  RETURN_IF_ERROR(value.Expect('{'));
  do {
    ASSIGN_OR_RETURN(const int precision,
                     ReadEnumerator(value, {{"default", 0},
                                            {"high", 1},
                                            {"highest", 2},
                                            {"packed_nibble", 3}}));
    it.mutable_precision_config()->add_operand_precision(precision);
  } while (value.Consume(','));
  return value.Expect('}');
}

absl::Status ReadAlgorithm(TextCursor& value, hlo::HloInstructionProto& it) {
  static const auto* const dots = new Enumerators{
      {"dot_any_f8_any_f8_f32", 1}, {"dot_any_f8_any_f8_f32_fast_accum", 2},
      {"dot_f16_f16_f16", 3},       {"dot_f16_f16_f32", 4},
      {"dot_bf16_bf16_bf16", 5},    {"dot_bf16_bf16_f32", 6},
      {"dot_bf16_bf16_f32_x3", 7},  {"dot_bf16_bf16_f32_x6", 8},
      {"dot_tf32_tf32_f32", 9},     {"dot_tf32_tf32_f32_x3", 10},
      {"dot_f32_f32_f32", 11},      {"dot_f64_f64_f64", 12},
      {"dot_bf16_bf16_f32_x9", 13},
  };
  if (it.opcode() != "dot") {
    ASSIGN_OR_RETURN(const int algorithm,
                     ReadEnumerator(value, {{"rng_default", 0},
                                            {"rng_three_fry", 1},
                                            {"rng_philox", 2}}));
    it.set_rng_algorithm(algorithm);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const int algorithm, ReadEnumerator(value, *dots));
  it.mutable_precision_config()->set_algorithm(algorithm);
  return absl::OkStatus();
}

absl::Status ReadApiVersion(TextCursor& value, hlo::HloInstructionProto& it) {
  ASSIGN_OR_RETURN(
      const int version,
      ReadEnumerator(value, {{"API_VERSION_ORIGINAL", kOriginalApiVersion},
                             {"API_VERSION_STATUS_RETURNING", 2},
                             {"API_VERSION_STATUS_RETURNING_UNIFIED", 3},
                             {"API_VERSION_TYPED_FFI", 4}}));
  it.set_custom_call_api_version(version);
  return absl::OkStatus();
}

absl::Status ReadDistribution(TextCursor& value, hlo::HloInstructionProto& it) {
  ASSIGN_OR_RETURN(
      const int distribution,
      ReadEnumerator(value, {{"rng_uniform", 1}, {"rng_normal", 2}}));
  it.set_distribution(distribution);
  return absl::OkStatus();
}

absl::Status ReadFftType(TextCursor& value, hlo::HloInstructionProto& it) {
  ASSIGN_OR_RETURN(
      const int type,
      ReadEnumerator(value,
                     {{"FFT", 0}, {"IFFT", 1}, {"RFFT", 2}, {"IRFFT", 3}}));
  it.set_fft_type(type);
  return absl::OkStatus();
}

absl::Status ReadEpsilon(TextCursor& value, hlo::HloInstructionProto& it) {
  float epsilon = 0;
  if (!absl::SimpleAtof(std::string(value.Word()), &epsilon)) {
    return value.Error("expected a number");
  }
  it.set_epsilon(epsilon);
  return absl::OkStatus();
}

absl::Status ReadIotaDimension(TextCursor& value,
                               hlo::HloInstructionProto& it) {
  ASSIGN_OR_RETURN(const int64_t dimension, value.Integer());
  it.add_dimensions(dimension);
  return absl::OkStatus();
}

absl::Status ReadLeftSide(TextCursor& value, hlo::HloInstructionProto& it) {
  return SetFlag(value, *it.mutable_triangular_solve_options(),
                 &hlo::TriangularSolveOptions::set_left_side);
}

absl::Status ReadLower(TextCursor& value, hlo::HloInstructionProto& it) {
  if (it.opcode() == "cholesky") {
    return SetFlag(value, *it.mutable_cholesky_options(),
                   &hlo::CholeskyOptions::set_lower);
  }
  return SetFlag(value, *it.mutable_triangular_solve_options(),
                 &hlo::TriangularSolveOptions::set_lower);
}

absl::Status ReadUnitDiagonal(TextCursor& value, hlo::HloInstructionProto& it) {
  return SetFlag(value, *it.mutable_triangular_solve_options(),
                 &hlo::TriangularSolveOptions::set_unit_diagonal);
}

absl::Status ReadTransposeA(TextCursor& value, hlo::HloInstructionProto& it) {
  ASSIGN_OR_RETURN(
      const int transpose,
      ReadEnumerator(value,
                     {{"NO_TRANSPOSE", 1}, {"TRANSPOSE", 2}, {"ADJOINT", 3}}));
  it.mutable_triangular_solve_options()->set_transpose_a(transpose);
  return absl::OkStatus();
}

}  // namespace meshwright::ir
