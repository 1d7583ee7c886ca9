#include "coordinator/ir/text/shape_text.h"

#include <string_view>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::ir {
namespace {

const std::unordered_map<std::string_view, hlo::PrimitiveType>& ElementTypes() {
  static const auto* const types =
      new std::unordered_map<std::string_view, hlo::PrimitiveType>{
          {"pred", hlo::PRED},
          {"s1", hlo::S1},
          {"s2", hlo::S2},
          {"s4", hlo::S4},
          {"s8", hlo::S8},
          {"s16", hlo::S16},
          {"s32", hlo::S32},
          {"s64", hlo::S64},
          {"u1", hlo::U1},
          {"u2", hlo::U2},
          {"u4", hlo::U4},
          {"u8", hlo::U8},
          {"u16", hlo::U16},
          {"u32", hlo::U32},
          {"u64", hlo::U64},
          {"f16", hlo::F16},
          {"bf16", hlo::BF16},
          {"f32", hlo::F32},
          {"f64", hlo::F64},
          {"c64", hlo::C64},
          {"c128", hlo::C128},
          {"f4e2m1fn", hlo::F4E2M1FN},
          {"f8e3m4", hlo::F8E3M4},
          {"f8e4m3", hlo::F8E4M3},
          {"f8e4m3b11fnuz", hlo::F8E4M3B11FNUZ},
          {"f8e4m3fn", hlo::F8E4M3FN},
          {"f8e4m3fnuz", hlo::F8E4M3FNUZ},
          {"f8e5m2", hlo::F8E5M2},
          {"f8e5m2fnuz", hlo::F8E5M2FNUZ},
          {"f8e8m0fnu", hlo::F8E8M0FNU},
          {"token", hlo::TOKEN},
          {"opaque", hlo::OPAQUE_TYPE},
      };
  return *types;
}

absl::Status ReadLayout(TextCursor& cursor, hlo::ShapeProto& shape) {
  hlo::LayoutProto& layout = *shape.mutable_layout();
  layout.set_tail_padding_alignment_in_elements(1);
  const int rank = shape.dimensions_size();
  if (cursor.Here() == '{') {
    ASSIGN_OR_RETURN(TextCursor value, cursor.Value());
    RETURN_IF_ERROR(value.Expect('{'));
    if (value.Peek() != '}' && value.Peek() != ':') {
      do {
        ASSIGN_OR_RETURN(const int64_t dim, value.Integer());
        if (dim < 0 || dim >= rank || layout.minor_to_major_size() == rank) {
          return value.Error("a layout does not fit its shape");
        }
        layout.add_minor_to_major(dim);
      } while (value.Consume(','));
    }
    // Tiles, memory space and what else follows a colon say how, not what.
    if (value.Peek() != '}' && value.Peek() != ':') {
      return value.Error("a layout holds something unknown");
    }
    if (layout.minor_to_major_size() == rank) return absl::OkStatus();
    if (layout.minor_to_major_size() > 0) {
      return value.Error("a layout does not fit its shape");
    }
  }
  for (int dim = rank - 1; dim >= 0; --dim) layout.add_minor_to_major(dim);
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadShape(TextCursor& cursor, hlo::ShapeProto& shape, int depth) {
  if (depth > kMaxTextDepth) return cursor.Error("tuples nest too deeply");
  if (cursor.Consume('(')) {
    shape.set_element_type(hlo::TUPLE);
    if (cursor.Consume(')')) return absl::OkStatus();
    do {
      RETURN_IF_ERROR(ReadShape(cursor, *shape.add_tuple_shapes(), depth + 1));
    } while (cursor.Consume(','));
    return cursor.Expect(')');
  }
  const TextCursor start = cursor;
  const std::string_view name = cursor.Name();
  const auto type = ElementTypes().find(name);
  if (type == ElementTypes().end()) {
    return start.Error(absl::StrCat("expected a shape, not '",
                                    std::string(name.substr(0, 40)),
                                    "', which is no element type"));
  }
  shape.set_element_type(type->second);
  RETURN_IF_ERROR(cursor.Expect('['));
  if (!cursor.Consume(']')) {
    do {
      const bool dynamic = cursor.Consume("<=");
      ASSIGN_OR_RETURN(const int64_t size, cursor.Integer());
      if (size < 0) return cursor.Error("a dimension is negative");
      shape.add_dimensions(size);
      shape.add_is_dynamic_dimension(dynamic);
    } while (cursor.Consume(','));
    RETURN_IF_ERROR(cursor.Expect(']'));
  }
  if (type->second == hlo::TOKEN || type->second == hlo::OPAQUE_TYPE) {
    return absl::OkStatus();
  }
  return ReadLayout(cursor, shape);
}

}  // namespace meshwright::ir
