#include "tests/stress/builder.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace meshwright::stress {

hlo::ShapeProto Array(const Ids& dims, hlo::PrimitiveType type) {
  hlo::ShapeProto shape;
  shape.set_element_type(type);
  for (int64_t dim : dims) shape.add_dimensions(dim);
  return shape;
}

hlo::ShapeProto Tuple(const std::vector<hlo::ShapeProto>& elements) {
  hlo::ShapeProto shape;
  shape.set_element_type(hlo::TUPLE);
  for (const hlo::ShapeProto& element : elements) {
    *shape.add_tuple_shapes() = element;
  }
  return shape;
}

Builder::Builder() {
  module_.set_name("stress");
  Begin();
}

void Builder::Begin() { open_.emplace_back(); }

Id Builder::End(Id root) {
  Open done = std::move(open_.back());
  open_.pop_back();
  const Id id = next_computation_++;
  done.message.set_id(id);
  done.message.set_name(absl::StrCat("c", id));
  done.message.set_root_id(root);
  *module_.add_computations() = std::move(done.message);
  return id;
}

hlo::HloInstructionProto& Builder::Add(const std::string& opcode,
                                       const hlo::ShapeProto& shape,
                                       const Ids& operands) {
  hlo::HloInstructionProto& it = *open_.back().message.add_instructions();
  const Id id = static_cast<Id>(shapes_.size());
  it.set_id(id);
  it.set_name(absl::StrCat("v", id));
  it.set_opcode(opcode);
  *it.mutable_shape() = shape;
  for (Id operand : operands) it.add_operand_ids(operand);
  shapes_.push_back(shape);
  return it;
}

Id Builder::Op(const std::string& opcode, const hlo::ShapeProto& shape,
               const Ids& operands) {
  return Add(opcode, shape, operands).id();
}

Id Builder::Parameter(const hlo::ShapeProto& shape) {
  hlo::HloInstructionProto& it = Add("parameter", shape, {});
  it.set_parameter_number(open_.back().parameters++);
  return it.id();
}

Id Builder::Scalar(float value) {
  hlo::HloInstructionProto& it = Add("constant", Array({}), {});
  *it.mutable_literal()->mutable_shape() = Array({});
  it.mutable_literal()->add_f32s(value);
  return it.id();
}

Id Builder::Dot(Id lhs, Id rhs, int64_t m, int64_t n) {
  hlo::HloInstructionProto& it = Add("dot", Array({m, n}), {lhs, rhs});
  it.mutable_dot_dimension_numbers()->add_lhs_contracting_dimensions(1);
  it.mutable_dot_dimension_numbers()->add_rhs_contracting_dimensions(0);
  return it.id();
}

Id Builder::Reducer() {
  if (reducer_ != 0) return reducer_;
  Begin();
  const Id a = Parameter(Array({}));
  const Id b = Parameter(Array({}));
  return reducer_ = End(Op("add", Array({}), {a, b}));
}

Id Builder::Sum(Id value, int64_t rank) {
  const Id reducer = Reducer();
  const Id zero = Scalar(0);
  hlo::HloInstructionProto& it = Add("reduce", Array({}), {value, zero});
  for (int64_t dim = 0; dim < rank; ++dim) it.add_dimensions(dim);
  it.add_called_computation_ids(reducer);
  return it.id();
}

Id Builder::MakeTuple(const Ids& elements) {
  std::vector<hlo::ShapeProto> shapes;
  for (Id id : elements) shapes.push_back(shapes_[id]);
  return Op("tuple", Tuple(shapes), elements);
}

Id Builder::Element(Id tuple, int64_t index) {
  const hlo::ShapeProto shape =
      shapes_[tuple].tuple_shapes(static_cast<int>(index));
  hlo::HloInstructionProto& it = Add("get-tuple-element", shape, {tuple});
  it.set_tuple_index(index);
  return it.id();
}

hlo::HloModuleProto Builder::Finish(const Ids& outputs, int states) {
  const Id root = MakeTuple(outputs);
  module_.set_entry_computation_id(End(root));
  for (int i = 0; i < states; ++i) {
    auto& entry = *module_.mutable_input_output_alias()->add_entries();
    entry.add_output_shape_index(i);
    entry.set_parameter_number(i);
    entry.set_kind(hlo::MAY_ALIAS);
  }
  return std::move(module_);
}

}  // namespace meshwright::stress
