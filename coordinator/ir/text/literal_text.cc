#include "coordinator/ir/text/literal_text.h"

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/ir/text/element_reader.h"

namespace meshwright::ir {
namespace {

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
      RETURN_IF_ERROR(ReadArray(cursor, shape, reader));
      reader.Finish();
      return absl::OkStatus();
    }
  }
}

}  // namespace meshwright::ir
