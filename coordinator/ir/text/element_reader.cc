#include "coordinator/ir/text/element_reader.h"

#include <bit>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::ir {
namespace {

absl::string_view ToAbsl(std::string_view text) {
  return absl::string_view(text.data(), text.size());
}

// The field that holds the elements of a type.
const google::protobuf::FieldDescriptor* FindField(hlo::PrimitiveType type) {
  return hlo::LiteralProto::descriptor()->FindFieldByName(
      absl::AsciiStrToLower(hlo::PrimitiveType_Name(type)) + "s");
}

}  // namespace

// "S8" is a signed one of 8 bits.
ElementReader::IntegerType ElementReader::FindIntegerType(
    hlo::PrimitiveType type) {
  const std::string& name = hlo::PrimitiveType_Name(type);
  int bits = 0;
  if ((name[0] != 'S' && name[0] != 'U') ||
      !absl::SimpleAtoi(name.substr(1), &bits)) {
    return {};
  }
  return {bits, name[0] == 'S'};
}

ElementReader::ElementReader(hlo::PrimitiveType type,
                             hlo::LiteralProto& literal)
    : type_(type),
      integer_(FindIntegerType(type)),
      narrow_(FindNarrowFloat(type)),
      literal_(literal) {}

absl::Status ElementReader::Read(TextCursor& cursor) {
  if (type_ == hlo::C64 || type_ == hlo::C128) {
    RETURN_IF_ERROR(cursor.Expect('('));
    RETURN_IF_ERROR(ReadReal(cursor));
    RETURN_IF_ERROR(cursor.Expect(','));
    RETURN_IF_ERROR(ReadReal(cursor));
    return cursor.Expect(')');
  }
  if (type_ == hlo::PRED) {
    const TextCursor start = cursor;
    const std::string_view word = cursor.Word();
    const bool value = word == "true" || word == "1";
    if (!value && word != "false" && word != "0") return Bad(start, word);
    literal_.add_preds(value);
    return absl::OkStatus();
  }
  return integer_.bits > 0 ? ReadInteger(cursor) : ReadReal(cursor);
}

absl::Status ElementReader::Bad(const TextCursor& at, std::string_view word) {
  return at.Error(absl::StrCat("'", std::string(word.substr(0, 40)),
                               "' is no value of the constant's type"));
}

absl::Status ElementReader::ReadInteger(TextCursor& cursor) {
  const TextCursor start = cursor;
  const std::string_view word = cursor.Word();
  uint64_t bits = 0;
  if (integer_.is_signed) {
    int64_t value = 0;
    const int64_t limit =
        integer_.bits == 64 ? 0 : int64_t{1} << (integer_.bits - 1);
    if (!absl::SimpleAtoi(ToAbsl(word), &value) ||
        (limit != 0 && (value < -limit || value >= limit))) {
      return Bad(start, word);
    }
    bits = static_cast<uint64_t>(value);
  } else {
    uint64_t value = 0;
    if (!absl::SimpleAtoi(ToAbsl(word), &value) ||
        (integer_.bits < 64 && value >> integer_.bits != 0)) {
      return Bad(start, word);
    }
    bits = value;
  }
  switch (type_) {
    case hlo::S32:
      literal_.add_s32s(static_cast<int32_t>(bits));
      break;
    case hlo::S64:
      literal_.add_s64s(static_cast<int64_t>(bits));
      break;
    case hlo::U32:
      literal_.add_u32s(static_cast<uint32_t>(bits));
      break;
    case hlo::U64:
      literal_.add_u64s(bits);
      break;
    default:
      AppendBytes(bits & ((uint64_t{1} << integer_.bits) - 1),
                  integer_.bits == 16 ? 2 : 1);
  }
  return absl::OkStatus();
}

absl::Status ElementReader::ReadReal(TextCursor& cursor) {
  const TextCursor start = cursor;
  const std::string_view word = cursor.Word();
  if (word == "nan" || word == "-nan") {
    Nan nan{word[0] == '-', 0};
    if (cursor.Here() == '(') {
      (void)cursor.Consume('(');
      const std::string_view payload = cursor.Word();
      if (!absl::SimpleHexAtoi(ToAbsl(payload), &nan.payload)) {
        return Bad(start, payload);
      }
      RETURN_IF_ERROR(cursor.Expect(')'));
    }
    AppendNan(nan);
    return absl::OkStatus();
  }
  float narrow = 0;
  double wide = 0;
  if (type_ == hlo::F32 || type_ == hlo::C64) {
    if (!absl::SimpleAtof(ToAbsl(word), &narrow)) return Bad(start, word);
  } else if (!absl::SimpleAtod(ToAbsl(word), &wide)) {
    return Bad(start, word);
  }
  if (!AppendReal(narrow, wide)) {
    if (!narrow_.has_value()) return Bad(start, word);
    AppendNarrow(EncodeNarrow(wide, *narrow_));
  }
  return absl::OkStatus();
}

bool ElementReader::AppendReal(float narrow, double wide) {
  switch (type_) {
    case hlo::F32:
      literal_.add_f32s(narrow);
      return true;
    case hlo::C64:
      literal_.add_c64s(narrow);
      return true;
    case hlo::F64:
      literal_.add_f64s(wide);
      return true;
    case hlo::C128:
      literal_.add_c128s(wide);
      return true;
    default:
      return false;
  }
}

void ElementReader::AppendNan(const Nan& nan) {
  const uint32_t payload32 = static_cast<uint32_t>(nan.payload) & 0x7fffff;
  const float narrow =
      std::bit_cast<float>((nan.negative ? 0xff800000u : 0x7f800000u) |
                           (payload32 != 0 ? payload32 : 0x400000u));
  const uint64_t payload64 = nan.payload & 0xfffffffffffff;
  const double wide = std::bit_cast<double>(
      (nan.negative ? uint64_t{0xfff} << 52 : uint64_t{0x7ff} << 52) |
      (payload64 != 0 ? payload64 : uint64_t{1} << 51));
  if (!AppendReal(narrow, wide)) {
    AppendNarrow(NarrowNan(nan.negative, nan.payload, *narrow_));
  }
}

void ElementReader::AppendNarrow(uint16_t bits) {
  AppendBytes(bits,
              narrow_->exponent_bits + narrow_->mantissa_bits > 8 ? 2 : 1);
}

void ElementReader::AppendBytes(uint64_t bits, int count) {
  for (int i = 0; i < count; ++i) {
    bytes_.push_back(static_cast<char>(bits >> (8 * i)));
  }
}

void ElementReader::Finish() {
  if (bytes_.empty()) return;
  literal_.GetReflection()->SetString(&literal_, FindField(type_),
                                      std::move(bytes_));
}

}  // namespace meshwright::ir
