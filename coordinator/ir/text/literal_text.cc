#include "coordinator/ir/text/literal_text.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/ir/text/narrow_float.h"

namespace meshwright::ir {
namespace {

absl::string_view ToAbsl(std::string_view text) {
  return absl::string_view(text.data(), text.size());
}

// The bytes field of a type that is stored as bytes; null for the others.
std::string* BytesOf(hlo::LiteralProto& literal, hlo::PrimitiveType type) {
  switch (type) {
    case hlo::S1:
      return literal.mutable_s1s();
    case hlo::S2:
      return literal.mutable_s2s();
    case hlo::S4:
      return literal.mutable_s4s();
    case hlo::S8:
      return literal.mutable_s8s();
    case hlo::S16:
      return literal.mutable_s16s();
    case hlo::U1:
      return literal.mutable_u1s();
    case hlo::U2:
      return literal.mutable_u2s();
    case hlo::U4:
      return literal.mutable_u4s();
    case hlo::U8:
      return literal.mutable_u8s();
    case hlo::U16:
      return literal.mutable_u16s();
    case hlo::F16:
      return literal.mutable_f16s();
    case hlo::BF16:
      return literal.mutable_bf16s();
    case hlo::F4E2M1FN:
      return literal.mutable_f4e2m1fns();
    case hlo::F8E3M4:
      return literal.mutable_f8e3m4s();
    case hlo::F8E4M3:
      return literal.mutable_f8e4m3s();
    case hlo::F8E4M3B11FNUZ:
      return literal.mutable_f8e4m3b11fnuzs();
    case hlo::F8E4M3FN:
      return literal.mutable_f8e4m3fns();
    case hlo::F8E4M3FNUZ:
      return literal.mutable_f8e4m3fnuzs();
    case hlo::F8E5M2:
      return literal.mutable_f8e5m2s();
    case hlo::F8E5M2FNUZ:
      return literal.mutable_f8e5m2fnuzs();
    case hlo::F8E8M0FNU:
      return literal.mutable_f8e8m0fnus();
    default:
      return nullptr;
  }
}

struct IntegerType {
  int bits = 0;
  bool is_signed = false;
};

IntegerType IntegerTypeOf(hlo::PrimitiveType type) {
  switch (type) {
    case hlo::S1:
      return {1, true};
    case hlo::S2:
      return {2, true};
    case hlo::S4:
      return {4, true};
    case hlo::S8:
      return {8, true};
    case hlo::S16:
      return {16, true};
    case hlo::S32:
      return {32, true};
    case hlo::S64:
      return {64, true};
    case hlo::U1:
      return {1, false};
    case hlo::U2:
      return {2, false};
    case hlo::U4:
      return {4, false};
    case hlo::U8:
      return {8, false};
    case hlo::U16:
      return {16, false};
    case hlo::U32:
      return {32, false};
    case hlo::U64:
      return {64, false};
    default:
      return {};
  }
}

// "nan", "-nan", "nan(0x44)".
struct Nan {
  bool negative = false;
  uint64_t payload = 0;
};

class ElementReader {
 public:
  ElementReader(hlo::PrimitiveType type, hlo::LiteralProto& literal)
      : type_(type),
        integer_(IntegerTypeOf(type)),
        narrow_(NarrowFloatOf(type)),
        bytes_(BytesOf(literal, type)),
        literal_(literal) {}

  absl::Status Read(TextCursor& cursor) {
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

 private:
  absl::Status Bad(const TextCursor& at, std::string_view word) const {
    return at.Error(absl::StrCat("'", std::string(word.substr(0, 40)),
                                 "' is no value of the constant's type"));
  }

  absl::Status ReadInteger(TextCursor& cursor) {
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

  absl::Status ReadReal(TextCursor& cursor) {
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
    switch (type_) {
      case hlo::F32:
        literal_.add_f32s(narrow);
        break;
      case hlo::C64:
        literal_.add_c64s(narrow);
        break;
      case hlo::F64:
        literal_.add_f64s(wide);
        break;
      case hlo::C128:
        literal_.add_c128s(wide);
        break;
      default:
        if (!narrow_.has_value()) return Bad(start, word);
        AppendNarrow(EncodeNarrow(wide, *narrow_));
    }
    return absl::OkStatus();
  }

  void AppendNan(const Nan& nan) {
    const uint32_t payload32 = static_cast<uint32_t>(nan.payload) & 0x7fffff;
    const float narrow =
        std::bit_cast<float>((nan.negative ? 0xff800000u : 0x7f800000u) |
                             (payload32 != 0 ? payload32 : 0x400000u));
    const uint64_t payload64 = nan.payload & 0xfffffffffffff;
    const double wide = std::bit_cast<double>(
        (nan.negative ? uint64_t{0xfff} << 52 : uint64_t{0x7ff} << 52) |
        (payload64 != 0 ? payload64 : uint64_t{1} << 51));
    switch (type_) {
      case hlo::F32:
        literal_.add_f32s(narrow);
        break;
      case hlo::C64:
        literal_.add_c64s(narrow);
        break;
      case hlo::F64:
        literal_.add_f64s(wide);
        break;
      case hlo::C128:
        literal_.add_c128s(wide);
        break;
      default:
        AppendNarrow(NarrowNan(nan.negative, nan.payload, *narrow_));
    }
  }

  void AppendNarrow(uint16_t bits) {
    AppendBytes(bits,
                narrow_->exponent_bits + narrow_->mantissa_bits > 8 ? 2 : 1);
  }

  void AppendBytes(uint64_t bits, int count) {
    for (int i = 0; i < count; ++i) {
      bytes_->push_back(static_cast<char>(bits >> (8 * i)));
    }
  }

  const hlo::PrimitiveType type_;
  const IntegerType integer_;
  const std::optional<NarrowFloat> narrow_;
  std::string* const bytes_;
  hlo::LiteralProto& literal_;
};

absl::Status ReadArray(TextCursor& cursor, const hlo::ShapeProto& shape,
                       ElementReader& reader) {
  const int rank = shape.dimensions_size();
  if (rank == 0) return reader.Read(cursor);
  // children[d]: what has been met inside of the open braces of level d.
  std::vector<int64_t> children;
  do {
    const char next = cursor.Peek();
    const int depth = static_cast<int>(children.size());
    if (next == '}') {
      if (depth == 0) return cursor.Error("a constant has a brace too many");
      if (children.back() != shape.dimensions(depth - 1)) {
        return cursor.Error(absl::StrCat("a constant holds ", children.back(),
                                         " elements where its shape "
                                         "has ",
                                         shape.dimensions(depth - 1)));
      }
      (void)cursor.Consume('}');
      children.pop_back();
      (void)(children.empty() || cursor.Consume(','));
      continue;
    }
    if (depth > 0) ++children.back();
    if (next == '{') {
      if (depth == rank) {
        return cursor.Error("a constant nests deeper than its shape");
      }
      (void)cursor.Consume('{');
      children.push_back(0);
    } else if (depth == rank) {
      RETURN_IF_ERROR(reader.Read(cursor));
      (void)cursor.Consume(',');
    } else {
      return cursor.Error("expected '{' in a constant");
    }
  } while (!children.empty());
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadLiteral(TextCursor& cursor, const hlo::ShapeProto& shape,
                         hlo::LiteralProto& literal, int depth) {
  if (depth > kMaxTextDepth) return cursor.Error("a constant nests too deeply");
  *literal.mutable_shape() = shape;
  switch (shape.element_type()) {
    case hlo::TUPLE: {
      RETURN_IF_ERROR(cursor.Expect('('));
      for (int i = 0; i < shape.tuple_shapes_size(); ++i) {
        if (i > 0) RETURN_IF_ERROR(cursor.Expect(','));
        RETURN_IF_ERROR(ReadLiteral(cursor, shape.tuple_shapes(i),
                                    *literal.add_tuple_literals(), depth + 1));
      }
      return cursor.Expect(')');
    }
    case hlo::TOKEN:
    case hlo::OPAQUE_TYPE:
      return cursor.Error("a constant cannot have this type");
    default: {
      ElementReader reader(shape.element_type(), literal);
      return ReadArray(cursor, shape, reader);
    }
  }
}

}  // namespace meshwright::ir
