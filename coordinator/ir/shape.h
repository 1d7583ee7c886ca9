// Shapes of HLO values.
//
// Concept: an array shape is an element type and its dimensions; a tuple shape
// holds element shapes. Layouts are not kept: the analysis is about logical
// dimensions and every program it writes uses the default layout.
// Units: sizes in elements, bytes where the name says so.
// Errors: kInvalidArgument for negative dimensions and for sizes that overflow.
#ifndef MESHWRIGHT_COORDINATOR_IR_SHAPE_H_
#define MESHWRIGHT_COORDINATOR_IR_SHAPE_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/hlo/hlo.pb.h"

namespace meshwright::ir {

// No array has more dimensions.
inline constexpr int kMaxRank = 64;

struct Shape {
  hlo::PrimitiveType element_type = hlo::PRIMITIVE_TYPE_INVALID;
  std::vector<int64_t> dims;
  std::vector<Shape> elements;  // of a tuple

  bool is_tuple() const { return element_type == hlo::TUPLE; }
  int rank() const { return static_cast<int>(dims.size()); }
  bool is_scalar() const { return !is_tuple() && dims.empty(); }

  // The product of the dimensions; 0 for tuples.
  int64_t element_count() const;
  // Bytes of a dense copy; of all leaves for a tuple.
  int64_t byte_size() const;

  bool operator==(const Shape&) const = default;
};

// Bytes of one element; sub-byte types count as one byte, tokens as none.
int64_t CountElementBytes(hlo::PrimitiveType type);
// Bits of one element as bitcasts count them.
int64_t CountElementBits(hlo::PrimitiveType type);
bool IsFloating(hlo::PrimitiveType type);
bool IsInteger(hlo::PrimitiveType type);

absl::StatusOr<Shape> ShapeFromProto(const hlo::ShapeProto& proto);
// Writes the default (descending) layout.
hlo::ShapeProto ShapeToProto(const Shape& shape);

// The dimensions that stand for the value: its own, or its elements' where they
// are all alike; null where the elements differ or are tuples.
const std::vector<int64_t>* CollectUniformDims(const Shape& shape);

// Whether dimension numbers name `dim`.
template <typename Repeated>
bool Contains(const Repeated& dims, int64_t dim) {
  return std::find(dims.begin(), dims.end(), dim) != dims.end();
}

// "f32[8,64]", "(f32[], s32[4])".
std::string ToString(const Shape& shape);

}  // namespace meshwright::ir

#endif  // MESHWRIGHT_COORDINATOR_IR_SHAPE_H_
