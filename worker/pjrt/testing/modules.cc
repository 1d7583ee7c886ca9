#include "worker/pjrt/testing/modules.h"

#include "absl/strings/str_cat.h"

namespace meshwright::worker::pjrt {
namespace {

hlo::ShapeProto Array(hlo::PrimitiveType type,
                      const std::vector<int64_t>& dimensions) {
  hlo::ShapeProto shape;
  shape.set_element_type(type);
  shape.mutable_layout();
  for (size_t i = 0; i < dimensions.size(); ++i) {
    shape.add_dimensions(dimensions[i]);
    shape.add_is_dynamic_dimension(false);
    shape.mutable_layout()->add_minor_to_major(
        static_cast<int64_t>(dimensions.size() - 1 - i));
  }
  return shape;
}

hlo::ShapeProto MakeTuple(const std::vector<hlo::ShapeProto>& leaves) {
  hlo::ShapeProto shape;
  shape.set_element_type(hlo::TUPLE);
  for (const hlo::ShapeProto& leaf : leaves) *shape.add_tuple_shapes() = leaf;
  return shape;
}

class Builder {
 public:
  Builder(hlo::HloModuleProto& module, const std::string& name)
      : module_(module),
        id_(module.computations_size() + 1),
        computation_(*module.add_computations()) {
    computation_.set_name(name);
    computation_.set_id(id_);
  }

  hlo::HloInstructionProto& Add(const std::string& opcode,
                                const hlo::ShapeProto& shape,
                                const std::vector<int64_t>& operands) {
    hlo::HloInstructionProto& instruction = *computation_.add_instructions();
    instruction.set_id(id_ * 1000 + computation_.instructions_size());
    instruction.set_name(absl::StrCat(opcode, ".", instruction.id()));
    instruction.set_opcode(opcode);
    *instruction.mutable_shape() = shape;
    for (const int64_t operand : operands) {
      instruction.add_operand_ids(operand);
    }
    return instruction;
  }

  hlo::HloInstructionProto& Parameter(const hlo::ShapeProto& shape) {
    auto& program = *computation_.mutable_program_shape();
    const int number = program.parameters_size();
    *program.add_parameters() = shape;
    program.add_parameter_names(absl::StrCat("p", number));
    hlo::HloInstructionProto& instruction = Add("parameter", shape, {});
    instruction.set_parameter_number(number);
    return instruction;
  }

  int64_t Finish(const hlo::HloInstructionProto& root) {
    computation_.set_root_id(root.id());
    *computation_.mutable_program_shape()->mutable_result() = root.shape();
    return id_;
  }

  void FinishEntry(const hlo::HloInstructionProto& root) {
    Finish(root);
    module_.set_name(computation_.name());
    module_.set_entry_computation_name(computation_.name());
    module_.set_entry_computation_id(id_);
    *module_.mutable_host_program_shape() = computation_.program_shape();
  }

 private:
  hlo::HloModuleProto& module_;
  const int64_t id_;
  hlo::HloComputationProto& computation_;
};

}  // namespace

hlo::OpSharding Replicated() { return {}; }

hlo::OpSharding Tiled(const std::vector<int64_t>& tiles) {
  hlo::OpSharding sharding;
  sharding.set_type(hlo::OpSharding::OTHER);
  int64_t count = 1;
  for (const int64_t tile : tiles) {
    sharding.add_tile_assignment_dimensions(tile);
    count *= tile;
  }
  for (int64_t device = 0; device < count; ++device) {
    sharding.add_tile_assignment_devices(device);
  }
  return sharding;
}

hlo::HloModuleProto MatmulModule(int64_t rows, int64_t inner, int64_t columns,
                                 const hlo::OpSharding& left,
                                 const hlo::OpSharding& right,
                                 const hlo::OpSharding& result) {
  hlo::HloModuleProto module;
  Builder entry(module, "matmul");
  auto& a = entry.Parameter(Array(hlo::F32, {rows, inner}));
  *a.mutable_sharding() = left;
  auto& b = entry.Parameter(Array(hlo::F32, {inner, columns}));
  *b.mutable_sharding() = right;
  auto& dot =
      entry.Add("dot", Array(hlo::F32, {rows, columns}), {a.id(), b.id()});
  dot.mutable_dot_dimension_numbers()->add_lhs_contracting_dimensions(1);
  dot.mutable_dot_dimension_numbers()->add_rhs_contracting_dimensions(0);
  *dot.mutable_sharding() = result;
  entry.FinishEntry(dot);
  return module;
}

hlo::HloModuleProto IncrementModule(int64_t elements) {
  hlo::HloModuleProto module;
  Builder entry(module, "increment");
  const hlo::ShapeProto shape = Array(hlo::F32, {elements});
  const int64_t state = entry.Parameter(shape).id();
  const int64_t step = entry.Parameter(shape).id();
  const int64_t sum = entry.Add("add", shape, {state, step}).id();
  entry.FinishEntry(entry.Add("tuple", MakeTuple({shape}), {sum}));
  auto& alias = *module.mutable_input_output_alias()->add_entries();
  alias.add_output_shape_index(0);
  alias.set_parameter_number(0);
  alias.set_kind(hlo::MAY_ALIAS);
  return module;
}

hlo::HloModuleProto LogModule(int64_t elements) {
  hlo::HloModuleProto module;
  Builder entry(module, "log");
  const hlo::ShapeProto shape = Array(hlo::F32, {elements});
  const int64_t input = entry.Parameter(shape).id();
  entry.FinishEntry(entry.Add("log", shape, {input}));
  return module;
}

hlo::HloModuleProto EndlessModule() {
  hlo::HloModuleProto module;
  const hlo::ShapeProto number = Array(hlo::S32, {});
  const hlo::ShapeProto state = MakeTuple({number, number});
  const auto element = [&](Builder& builder, int64_t tuple, int64_t index) {
    auto& get = builder.Add("get-tuple-element", number, {tuple});
    get.set_tuple_index(index);
    return get.id();
  };
  // (count, bound): while count < bound, count = count & bound - bound.
  Builder condition(module, "condition");
  int64_t tuple = condition.Parameter(state).id();
  int64_t count = element(condition, tuple, 0);
  int64_t bound = element(condition, tuple, 1);
  auto& compare =
      condition.Add("compare", Array(hlo::PRED, {}), {count, bound});
  compare.set_comparison_direction("LT");
  const int64_t condition_id = condition.Finish(compare);

  Builder body(module, "body");
  tuple = body.Parameter(state).id();
  count = element(body, tuple, 0);
  bound = element(body, tuple, 1);
  const int64_t both = body.Add("and", number, {count, bound}).id();
  const int64_t less = body.Add("subtract", number, {both, bound}).id();
  const int64_t body_id = body.Finish(body.Add("tuple", state, {less, bound}));

  Builder entry(module, "endless");
  const int64_t limit = entry.Parameter(number).id();
  const int64_t zero = entry.Add("subtract", number, {limit, limit}).id();
  const int64_t start = entry.Add("tuple", state, {zero, limit}).id();
  auto& loop = entry.Add("while", state, {start});
  loop.add_called_computation_ids(body_id);
  loop.add_called_computation_ids(condition_id);
  const int64_t loop_id = loop.id();
  auto& get = entry.Add("get-tuple-element", number, {loop_id});
  entry.FinishEntry(get);
  return module;
}

hlo::HloModuleProto RefusedModule() {
  hlo::HloModuleProto module;
  Builder entry(module, "refused");
  const int64_t two = entry.Parameter(Array(hlo::F32, {2})).id();
  const int64_t three = entry.Parameter(Array(hlo::F32, {3})).id();
  entry.FinishEntry(entry.Add("add", Array(hlo::F32, {2}), {two, three}));
  return module;
}

}  // namespace meshwright::worker::pjrt
