#include "coordinator/ir/text/shape_text.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace meshwright::ir {
namespace {

// "f32" -> F32; PRIMITIVE_TYPE_INVALID for what names no array, token or
// opaque.
hlo::PrimitiveType FindElementType(const std::string& name) {
  if (name == "opaque") return hlo::OPAQUE_TYPE;
  hlo::PrimitiveType type = hlo::PRIMITIVE_TYPE_INVALID;
  const bool known =
      absl::AsciiStrToLower(name) == name &&
      hlo::PrimitiveType_Parse(absl::AsciiStrToUpper(name), &type) &&
      type != hlo::TUPLE && type != hlo::OPAQUE_TYPE;
  return known ? type : hlo::PRIMITIVE_TYPE_INVALID;
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
  if (cursor.Peek() == '(') {
    shape.set_element_type(hlo::TUPLE);
    return cursor.ReadList('(', ')', [&] {
      return ReadShape(cursor, *shape.add_tuple_shapes(), depth + 1);
    });
  }
  const TextCursor start = cursor;
  const std::string name(cursor.Name());
  const hlo::PrimitiveType type = FindElementType(name);
  if (type == hlo::PRIMITIVE_TYPE_INVALID) {
    return start.Error(absl::StrCat("expected a shape, not '",
                                    name.substr(0, 40),
                                    "', which is no element type"));
  }
  shape.set_element_type(type);
  RETURN_IF_ERROR(cursor.ReadList('[', ']', [&]() -> absl::Status {
    const bool dynamic = cursor.Consume("<=");
    ASSIGN_OR_RETURN(const int64_t size, cursor.Integer());
    if (size < 0) return cursor.Error("a dimension is negative");
    shape.add_dimensions(size);
    shape.add_is_dynamic_dimension(dynamic);
    return absl::OkStatus();
  }));
  if (type == hlo::TOKEN || type == hlo::OPAQUE_TYPE) {
    return absl::OkStatus();
  }
  return ReadLayout(cursor, shape);
}

}  // namespace meshwright::ir
