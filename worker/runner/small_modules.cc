#include "worker/runner/small_modules.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"

namespace meshwright::worker::runner {
namespace {

hlo::ShapeProto Vector(hlo::PrimitiveType type, int64_t elements) {
  hlo::ShapeProto shape;
  shape.set_element_type(type);
  shape.add_dimensions(elements);
  shape.add_is_dynamic_dimension(false);
  shape.mutable_layout()->add_minor_to_major(0);
  return shape;
}

hlo::ShapeProto Matrix(int64_t rows, int64_t columns) {
  hlo::ShapeProto shape;
  shape.set_element_type(hlo::F32);
  for (const int64_t size : {rows, columns}) {
    shape.add_dimensions(size);
    shape.add_is_dynamic_dimension(false);
  }
  shape.mutable_layout()->add_minor_to_major(1);
  shape.mutable_layout()->add_minor_to_major(0);
  return shape;
}

hlo::ShapeProto Scalar(hlo::PrimitiveType type) {
  hlo::ShapeProto shape;
  shape.set_element_type(type);
  shape.mutable_layout();
  return shape;
}

hlo::HloInstructionProto& AddInstruction(hlo::HloComputationProto& computation,
                                         const std::string& opcode, int64_t id,
                                         const hlo::ShapeProto& shape) {
  hlo::HloInstructionProto& instruction = *computation.add_instructions();
  instruction.set_name(absl::StrCat(opcode, ".", id));
  instruction.set_opcode(opcode);
  instruction.set_id(id);
  *instruction.mutable_shape() = shape;
  return instruction;
}

void AddParameter(hlo::HloComputationProto& computation, int64_t id,
                  const hlo::ShapeProto& shape) {
  const int number = computation.program_shape().parameters_size();
  AddInstruction(computation, "parameter", id, shape)
      .set_parameter_number(number);
  *computation.mutable_program_shape()->add_parameters() = shape;
  computation.mutable_program_shape()->add_parameter_names(
      absl::StrCat("p", number));
}

void SetRoot(hlo::HloComputationProto& computation, int64_t id,
             const hlo::ShapeProto& shape) {
  computation.set_root_id(id);
  *computation.mutable_program_shape()->mutable_result() = shape;
}

void SetEntry(hlo::HloModuleProto& module,
              const hlo::HloComputationProto& entry) {
  module.set_name(entry.name());
  module.set_entry_computation_name(entry.name());
  module.set_entry_computation_id(entry.id());
  *module.mutable_host_program_shape() = entry.program_shape();
}

// A reducer that adds two elements.
hlo::HloComputationProto Adder(hlo::PrimitiveType type) {
  hlo::HloComputationProto adder;
  adder.set_name("add");
  adder.set_id(1);
  AddParameter(adder, 1, Scalar(type));
  AddParameter(adder, 2, Scalar(type));
  auto& add = AddInstruction(adder, "add", 3, Scalar(type));
  add.add_operand_ids(1);
  add.add_operand_ids(2);
  SetRoot(adder, 3, Scalar(type));
  return adder;
}

}  // namespace

absl::StatusOr<hlo::HloModuleProto> MakeCollectiveModule(
    const v1::Collective& collective, int device_count) {
  const std::string& kind = collective.kind();
  const int64_t group = std::max<int64_t>(1, collective.group_size());
  const bool gathers = kind == "all-gather";
  const bool scatters = kind == "reduce-scatter";
  const bool exchanges = kind == "all-to-all";
  const bool permutes = kind == "collective-permute";
  if (!gathers && !scatters && !exchanges && !permutes &&
      kind != "all-reduce") {
    return absl::UnimplementedError(
        absl::StrCat("a ", kind, " cannot be timed alone"));
  }
  if (device_count % group != 0) {
    return absl::UnimplementedError(absl::StrCat(
        "groups of ", group, " do not divide ", device_count, " devices"));
  }
  const bool words = collective.bytes() % 4 == 0;
  const hlo::PrimitiveType type = words ? hlo::F32 : hlo::U8;
  int64_t elements = collective.bytes() / (words ? 4 : 1);
  // A gather or exchange of a few odd bytes is rounded up.
  if (gathers || exchanges) elements = (elements + group - 1) / group * group;
  elements = std::max<int64_t>(elements, 1);
  const hlo::ShapeProto result = Vector(type, elements);
  const hlo::ShapeProto operand =
      Vector(type, gathers    ? std::max<int64_t>(elements / group, 1)
                   : scatters ? elements * group
                              : elements);

  hlo::HloModuleProto module;
  const bool reduces = scatters || kind == "all-reduce";
  if (reduces) *module.add_computations() = Adder(type);
  hlo::HloComputationProto& entry = *module.add_computations();
  entry.set_name("collective");
  entry.set_id(2);
  AddParameter(entry, 11, operand);
  auto& instruction = AddInstruction(entry, kind, 12, result);
  instruction.add_operand_ids(11);
  if (reduces) instruction.add_called_computation_ids(1);
  if (gathers || scatters || exchanges) instruction.add_dimensions(0);
  if (permutes) {
    for (int device = 0; device < device_count; ++device) {
      auto& pair = *instruction.add_source_target_pairs();
      pair.set_source(device);
      pair.set_target((device + 1) % device_count);
    }
  } else {
    for (int first = 0; first < device_count;
         first += static_cast<int>(group)) {
      hlo::ReplicaGroup& ids = *instruction.add_replica_groups();
      for (int i = 0; i < group; ++i) ids.add_replica_ids(first + i);
    }
  }
  SetRoot(entry, 12, result);
  SetEntry(module, entry);
  return module;
}

hlo::HloModuleProto LaunchModule() {
  hlo::HloModuleProto module;
  hlo::HloComputationProto& entry = *module.add_computations();
  entry.set_name("launch");
  entry.set_id(1);
  const hlo::ShapeProto shape = Vector(hlo::F32, 1);
  AddParameter(entry, 1, shape);
  AddInstruction(entry, "negate", 2, shape).add_operand_ids(1);
  SetRoot(entry, 2, shape);
  SetEntry(module, entry);
  return module;
}

hlo::HloModuleProto MakeProductsModule(int64_t side, int count) {
  hlo::HloModuleProto module;
  hlo::HloComputationProto& entry = *module.add_computations();
  entry.set_name("products");
  entry.set_id(1);
  const hlo::ShapeProto shape = Matrix(side, side);
  AddParameter(entry, 1, shape);
  AddParameter(entry, 2, shape);
  int64_t last = 1;
  for (int i = 0; i < count; ++i) {
    auto& dot = AddInstruction(entry, "dot", last + 2, shape);
    dot.add_operand_ids(last);
    dot.add_operand_ids(2);
    dot.mutable_dot_dimension_numbers()->add_lhs_contracting_dimensions(1);
    dot.mutable_dot_dimension_numbers()->add_rhs_contracting_dimensions(0);
    auto& sum = AddInstruction(entry, "add", last + 3, shape);
    sum.add_operand_ids(last + 2);
    sum.add_operand_ids(last);
    last += 3;
  }
  SetRoot(entry, last, shape);
  SetEntry(module, entry);
  return module;
}

hlo::HloModuleProto MakeSumModule(int64_t rows, int64_t columns, int devices) {
  hlo::HloModuleProto module;
  *module.add_computations() = Adder(hlo::F32);
  hlo::HloComputationProto& entry = *module.add_computations();
  entry.set_name(absl::StrCat("sum_over_", devices));
  entry.set_id(2);
  AddParameter(entry, 11, Matrix(rows, columns));
  if (devices > 1) {
    hlo::OpSharding& split = *entry.mutable_instructions(0)->mutable_sharding();
    split.set_type(hlo::OpSharding::OTHER);
    split.add_tile_assignment_dimensions(devices);
    split.add_tile_assignment_dimensions(1);
    for (int device = 0; device < devices; ++device) {
      split.add_tile_assignment_devices(device);
    }
  }
  auto& zero = AddInstruction(entry, "constant", 12, Scalar(hlo::F32));
  *zero.mutable_literal()->mutable_shape() = zero.shape();
  zero.mutable_literal()->add_f32s(0);
  zero.mutable_sharding()->set_type(hlo::OpSharding::REPLICATED);
  const hlo::ShapeProto result = Vector(hlo::F32, columns);
  auto& sum = AddInstruction(entry, "reduce", 13, result);
  sum.add_operand_ids(11);
  sum.add_operand_ids(12);
  sum.add_dimensions(0);
  sum.add_called_computation_ids(1);
  sum.mutable_sharding()->set_type(hlo::OpSharding::REPLICATED);
  SetRoot(entry, 13, result);
  SetEntry(module, entry);
  return module;
}

}  // namespace meshwright::worker::runner
