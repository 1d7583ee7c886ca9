#include "coordinator/ir/shape.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"

namespace meshwright::ir {
namespace {

// Larger arrays cannot be held by any device; the bound keeps every later
// product of sizes and widths inside 64 bits.
constexpr int64_t kMaxElements = int64_t{1} << 48;
constexpr int kMaxTupleDepth = 32;

enum class Kind { kOther, kFloat, kInteger };

struct ElementType {
  int bits = 8;
  Kind kind = Kind::kOther;
};

// The name says it: "S16", "BF16", "F8E4M3FN".
ElementType ReadName(hlo::PrimitiveType type) {
  const std::string& name = hlo::PrimitiveType_Name(type);
  const size_t digits = name.find_first_of("0123456789");
  if (digits == name.npos) return {type == hlo::PRED ? 8 : 0, Kind::kOther};
  ElementType it;
  it.bits = std::atoi(name.c_str() + digits);
  const bool integer = name[0] == 'S' || name[0] == 'U';
  // Of the types without infinity only fn computes like any other.
  const bool floating = (name[0] == 'F' || name[0] == 'B') && it.bits >= 8 &&
                        name.find("FNU") == name.npos;
  if (integer && it.bits > 1) it.kind = Kind::kInteger;
  if (floating) it.kind = Kind::kFloat;
  return it;
}

const ElementType& FindElementType(hlo::PrimitiveType type) {
  static const auto* const types = [] {
    // A message may hold a number that names no type; that comes last.
    auto* const by_number =
        new std::vector<ElementType>(hlo::PrimitiveType_ARRAYSIZE + 1);
    for (int i = 0; i < hlo::PrimitiveType_ARRAYSIZE; ++i) {
      (*by_number)[i] = ReadName(static_cast<hlo::PrimitiveType>(i));
    }
    return by_number;
  }();
  const size_t last = types->size() - 1;
  return (*types)[std::min(static_cast<size_t>(type), last)];
}

absl::StatusOr<Shape> FromProto(const hlo::ShapeProto& proto, int depth) {
  if (depth > kMaxTupleDepth) {
    return absl::InvalidArgumentError("a shape nests tuples too deeply");
  }
  Shape shape;
  shape.element_type = proto.element_type();
  if (shape.element_type == hlo::PRIMITIVE_TYPE_INVALID) {
    return absl::InvalidArgumentError("a shape has no element type");
  }
  if (shape.is_tuple() ? !proto.dimensions().empty()
                       : !proto.tuple_shapes().empty()) {
    return absl::InvalidArgumentError("a shape is both array and tuple");
  }
  if (proto.dimensions_size() > kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("a shape has more than ", kMaxRank, " dimensions"));
  }
  shape.dims.reserve(proto.dimensions_size());
  int64_t count = 1;
  for (int64_t dim : proto.dimensions()) {
    if (dim < 0) return absl::InvalidArgumentError("a dimension is negative");
    // Empty dimensions count as one, so that partial products are bounded too.
    if (count > kMaxElements / std::max<int64_t>(dim, 1)) {
      return absl::InvalidArgumentError("a shape has too many elements");
    }
    count *= std::max<int64_t>(dim, 1);
    shape.dims.push_back(dim);
  }
  shape.elements.reserve(proto.tuple_shapes_size());
  for (const hlo::ShapeProto& element : proto.tuple_shapes()) {
    ASSIGN_OR_RETURN(Shape inner, FromProto(element, depth + 1));
    shape.elements.push_back(std::move(inner));
  }
  return shape;
}

}  // namespace

int64_t Shape::element_count() const {
  if (is_tuple()) return 0;
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  return count;
}

int64_t Shape::byte_size() const {
  if (!is_tuple()) return element_count() * CountElementBytes(element_type);
  int64_t bytes = 0;
  for (const Shape& element : elements) bytes += element.byte_size();
  return bytes;
}

int64_t CountElementBytes(hlo::PrimitiveType type) {
  return (CountElementBits(type) + 7) / 8;
}

int64_t CountElementBits(hlo::PrimitiveType type) {
  return FindElementType(type).bits;
}

bool IsFloating(hlo::PrimitiveType type) {
  return FindElementType(type).kind == Kind::kFloat;
}

bool IsInteger(hlo::PrimitiveType type) {
  return FindElementType(type).kind == Kind::kInteger;
}

absl::StatusOr<Shape> ShapeFromProto(const hlo::ShapeProto& proto) {
  return FromProto(proto, 0);
}

hlo::ShapeProto ShapeToProto(const Shape& shape) {
  hlo::ShapeProto proto;
  proto.set_element_type(shape.element_type);
  for (int64_t dim : shape.dims) {
    proto.add_dimensions(dim);
    proto.add_is_dynamic_dimension(false);
  }
  for (const Shape& element : shape.elements) {
    *proto.add_tuple_shapes() = ShapeToProto(element);
  }
  if (!shape.is_tuple() && shape.element_type != hlo::TOKEN) {
    for (int dim = shape.rank() - 1; dim >= 0; --dim) {
      proto.mutable_layout()->add_minor_to_major(dim);
    }
    proto.mutable_layout();
  }
  return proto;
}

std::string ToString(const Shape& shape) {
  if (shape.is_tuple()) {
    return absl::StrCat(
        "(",
        absl::StrJoin(shape.elements, ", ",
                      [](std::string* out, const Shape& element) {
                        absl::StrAppend(out, ToString(element));
                      }),
        ")");
  }
  return absl::StrCat(
      absl::AsciiStrToLower(hlo::PrimitiveType_Name(shape.element_type)), "[",
      absl::StrJoin(shape.dims, ","), "]");
}

const std::vector<int64_t>* CollectUniformDims(const Shape& shape) {
  if (!shape.is_tuple()) return &shape.dims;
  if (shape.elements.empty()) return nullptr;
  for (const Shape& element : shape.elements) {
    if (element.is_tuple() || element.dims != shape.elements[0].dims) {
      return nullptr;
    }
  }
  return &shape.elements[0].dims;
}

}  // namespace meshwright::ir
