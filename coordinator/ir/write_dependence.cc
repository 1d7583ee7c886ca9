// ModuleWriter: order without barriers.
#include <algorithm>
#include <optional>
#include <string>

#include "coordinator/ir/write.h"

namespace meshwright::ir {
namespace {

// As many bits as a float has; nothing for other types.
std::optional<hlo::PrimitiveType> BitsOf(hlo::PrimitiveType type) {
  switch (type) {
    case hlo::F64:
      return hlo::U64;
    case hlo::F32:
      return hlo::U32;
    case hlo::F16:
    case hlo::BF16:
      return hlo::U16;
    default:
      return std::nullopt;
  }
}

hlo::OpSharding Whole() {
  hlo::OpSharding sharding;
  sharding.set_type(hlo::OpSharding::REPLICATED);
  return sharding;
}

}  // namespace

// A number has at most 64 bits that are one; a 128th of that is none.
int64_t ModuleWriter::AddZerosLike(int64_t floats) {
  const hlo::OpSharding sharding = *shardings_[floats];
  Shape bits = shapes_[floats];
  bits.element_type = *BitsOf(bits.element_type);
  Shape scalar;
  scalar.element_type = bits.element_type;
  const int64_t seven = AddOp("constant", scalar, {}, Whole());
  hlo::HloInstructionProto& it = *scope().mutable_instructions()->rbegin();
  *it.mutable_literal()->mutable_shape() = it.shape();
  switch (scalar.element_type) {
    case hlo::U64:
      it.mutable_literal()->add_u64s(7);
      break;
    case hlo::U32:
      it.mutable_literal()->add_u32s(7);
      break;
    default:
      it.mutable_literal()->set_u16s(std::string("\7\0", 2));
      break;
  }
  const int64_t number = AddOp("bitcast-convert", bits, {floats}, sharding);
  const int64_t ones = AddOp("popcnt", bits, {number}, sharding);
  const int64_t shift = AddOp("broadcast", bits, {seven}, sharding);
  return AddOp("shift-right-logical", bits, {ones, shift}, sharding);
}

int64_t ModuleWriter::AddDependence(int64_t value,
                                    const std::vector<int64_t>& after) {
  const Shape shape = shapes_[value];
  const hlo::OpSharding sharding = *shardings_[value];
  if (shape.element_type == hlo::PRED) return value;
  const auto is_float = [&](int64_t id) {
    return BitsOf(shapes_[id].element_type).has_value();
  };
  // One that lies as the value does costs no communication.
  const auto lies_alike = [&](int64_t id) {
    return is_float(id) && shapes_[id].dims == shape.dims &&
           shardings_[id]->SerializeAsString() == sharding.SerializeAsString();
  };
  auto found = std::find_if(after.begin(), after.end(), lies_alike);
  int64_t zeros = -1;
  if (found != after.end()) {
    zeros = AddZerosLike(*found);
  } else {
    found = std::find_if(after.begin(), after.end(), is_float);
    if (found == after.end()) return value;
    Shape one = shapes_[*found];
    std::fill(one.dims.begin(), one.dims.end(), 1);
    const int64_t corner = AddOp("slice", one, {*found}, Whole());
    hlo::HloInstructionProto& it = *scope().mutable_instructions()->rbegin();
    for (int dim = 0; dim < one.rank(); ++dim) {
      hlo::HloInstructionProto::SliceDimensions& slice =
          *it.add_slice_dimensions();
      slice.set_limit(1);
      slice.set_stride(1);
    }
    Shape scalar;
    scalar.element_type = one.element_type;
    const int64_t zero =
        AddZerosLike(AddOp("reshape", scalar, {corner}, Whole()));
    Shape bits = shape;
    bits.element_type = shapes_[zero].element_type;
    zeros = AddOp("broadcast", bits, {zero}, sharding);
  }
  const int64_t converted = AddOp("convert", shape, {zeros}, sharding);
  return AddOp("add", shape, {value, converted}, sharding);
}

}  // namespace meshwright::ir
