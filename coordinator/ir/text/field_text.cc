#include "coordinator/ir/text/field_text.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::ir {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

using Enumerators = std::vector<std::pair<std::string_view, int>>;

// By the name of the field; null for fields that hold plain numbers.
const Enumerators* FindEnumerators(const std::string& field) {
  static const auto* const known =
      new std::unordered_map<std::string, Enumerators>{
          {"operand_precision",
           {{"default", 0}, {"high", 1}, {"highest", 2}, {"packed_nibble", 3}}},
          {"algorithm",
           {{"dot_any_f8_any_f8_f32", 1},
            {"dot_any_f8_any_f8_f32_fast_accum", 2},
            {"dot_f16_f16_f16", 3},
            {"dot_f16_f16_f32", 4},
            {"dot_bf16_bf16_bf16", 5},
            {"dot_bf16_bf16_f32", 6},
            {"dot_bf16_bf16_f32_x3", 7},
            {"dot_bf16_bf16_f32_x6", 8},
            {"dot_tf32_tf32_f32", 9},
            {"dot_tf32_tf32_f32_x3", 10},
            {"dot_f32_f32_f32", 11},
            {"dot_f64_f64_f64", 12},
            {"dot_bf16_bf16_f32_x9", 13}}},
          {"rng_algorithm",
           {{"rng_default", 0}, {"rng_three_fry", 1}, {"rng_philox", 2}}},
          {"custom_call_api_version",
           {{"API_VERSION_ORIGINAL", kOriginalApiVersion},
            {"API_VERSION_STATUS_RETURNING", 2},
            {"API_VERSION_STATUS_RETURNING_UNIFIED", 3},
            {"API_VERSION_TYPED_FFI", 4}}},
          {"distribution", {{"rng_uniform", 1}, {"rng_normal", 2}}},
          {"fft_type", {{"FFT", 0}, {"IFFT", 1}, {"RFFT", 2}, {"IRFFT", 3}}},
          {"transpose_a",
           {{"NO_TRANSPOSE", 1}, {"TRANSPOSE", 2}, {"ADJOINT", 3}}},
      };
  const auto found = known->find(field);
  return found == known->end() ? nullptr : &found->second;
}

absl::StatusOr<int32_t> ReadSmallNumber(TextCursor& value,
                                        const std::string& field) {
  const TextCursor start = value;
  const Enumerators* const enumerators = FindEnumerators(field);
  if (enumerators == nullptr) {
    ASSIGN_OR_RETURN(const int64_t number, value.Integer());
    if (number < 0 || number > INT32_MAX) return value.Error("is out of range");
    return static_cast<int32_t>(number);
  }
  const std::string_view word = value.Word();
  for (const auto& [name, number] : *enumerators) {
    if (word == name) return number;
  }
  return start.Error(absl::StrCat("'", std::string(word.substr(0, 80)),
                                  "' is no known choice here"));
}

absl::Status ReadElement(TextCursor& value, const FieldDescriptor& field,
                         Message& message) {
  const Reflection& fields = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64: {
      ASSIGN_OR_RETURN(const int64_t number, value.Integer());
      field.is_repeated() ? fields.AddInt64(&message, &field, number)
                          : fields.SetInt64(&message, &field, number);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_INT32: {
      ASSIGN_OR_RETURN(const int32_t number,
                       ReadSmallNumber(value, std::string(field.name())));
      field.is_repeated() ? fields.AddInt32(&message, &field, number)
                          : fields.SetInt32(&message, &field, number);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_BOOL: {
      ASSIGN_OR_RETURN(const bool flag, value.Boolean());
      fields.SetBool(&message, &field, flag);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_FLOAT: {
      float number = 0;
      if (!absl::SimpleAtof(std::string(value.Word()), &number)) {
        return value.Error("expected a number");
      }
      fields.SetFloat(&message, &field, number);
      return absl::OkStatus();
    }
    default: {
      std::string text(value.Peek() == '"' ? "" : value.Word());
      if (text.empty()) {
        ASSIGN_OR_RETURN(text, value.QuotedString());
      }
      fields.SetString(&message, &field, std::move(text));
      return absl::OkStatus();
    }
  }
}

}  // namespace

absl::Status ReadField(TextCursor& value, const FieldDescriptor& field,
                       Message& message) {
  const auto read = [&] { return ReadElement(value, field, message); };
  return field.is_repeated() && value.Peek() == '{'
             ? value.ReadList('{', '}', read)
             : read();
}

absl::Status ReadNumbers(TextCursor& cursor,
                         google::protobuf::RepeatedField<int64_t>& numbers,
                         char open, char close) {
  return cursor.ReadList(open, close, [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const int64_t number, cursor.Integer());
    numbers.Add(number);
    return absl::OkStatus();
  });
}

}  // namespace meshwright::ir
