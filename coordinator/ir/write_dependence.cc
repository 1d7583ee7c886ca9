// ModuleWriter: order without barriers.
#include <algorithm>
#include <optional>
#include <string>

#include "coordinator/ir/write.h"

namespace meshwright::ir {
namespace {

// As many bits as a float has; nothing for other types.
std::optional<hlo::PrimitiveType> FindBitsType(hlo::PrimitiveType type) {
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
  bits.element_type = *FindBitsType(bits.element_type);
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

bool ModuleWriter::LieAlike(int64_t a, int64_t b) const {
  return shapes_[a].dims == shapes_[b].dims &&
         shardings_[a]->SerializeAsString() ==
             shardings_[b]->SerializeAsString();
}

// Of every dimension that is not split, the first element: little to read, and
// nothing to send where the two lie alike.
int64_t ModuleWriter::AddZerosFor(int64_t value, int64_t floats) {
  const bool alike = LieAlike(value, floats);
  const Shape shape = shapes_[value];
  const hlo::OpSharding sharding = *shardings_[value];
  Shape edge = shapes_[floats];
  Shape flat;  // the edge without dimensions of one element
  flat.element_type = edge.element_type;
  hlo::OpSharding flat_sharding = sharding;
  flat_sharding.clear_tile_assignment_dimensions();
  std::vector<int64_t> kept;
  const auto& tiles = sharding.tile_assignment_dimensions();
  for (int dim = 0; dim < edge.rank(); ++dim) {
    if (alike && dim < tiles.size() && tiles[dim] > 1) {
      kept.push_back(dim);
      flat.dims.push_back(edge.dims[dim]);
      flat_sharding.add_tile_assignment_dimensions(tiles[dim]);
    } else {
      edge.dims[dim] = 1;
    }
  }
  for (int dim = shape.rank(); dim < tiles.size(); ++dim) {  // of copies
    flat_sharding.add_tile_assignment_dimensions(tiles[dim]);
  }
  if (kept.empty()) flat_sharding = Whole();

  const int64_t slice =
      AddOp("slice", edge, {floats}, alike ? sharding : Whole());
  hlo::HloInstructionProto& it = *scope().mutable_instructions()->rbegin();
  for (const int64_t size : edge.dims) {
    hlo::HloInstructionProto::SliceDimensions& part =
        *it.add_slice_dimensions();
    part.set_limit(size);
    part.set_stride(1);
  }
  const int64_t zeros =
      AddZerosLike(AddOp("reshape", flat, {slice}, flat_sharding));
  Shape bits = shape;
  bits.element_type = shapes_[zeros].element_type;
  const int64_t all = AddOp("broadcast", bits, {zeros}, sharding);
  scope().mutable_instructions()->rbegin()->mutable_dimensions()->Assign(
      kept.begin(), kept.end());
  return AddOp("convert", shape, {all}, sharding);
}

int64_t ModuleWriter::AddDependence(int64_t value,
                                    const std::vector<int64_t>& after) {
  const Shape shape = shapes_[value];
  const hlo::OpSharding sharding = *shardings_[value];
  if (shape.element_type == hlo::PRED) return value;
  const auto is_float = [&](int64_t id) {
    const Shape& it = shapes_[id];
    return FindBitsType(it.element_type).has_value() &&
           std::find(it.dims.begin(), it.dims.end(), 0) == it.dims.end();
  };
  // One that lies as the value does costs no communication.
  auto found = std::find_if(after.begin(), after.end(), [&](int64_t id) {
    return is_float(id) && LieAlike(value, id);
  });
  if (found == after.end()) {
    found = std::find_if(after.begin(), after.end(), is_float);
  }
  if (found == after.end()) return value;
  const int64_t zeros = AddZerosFor(value, *found);
  return AddOp("add", shape, {value, zeros}, sharding);
}

}  // namespace meshwright::ir
