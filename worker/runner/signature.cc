#include "worker/runner/signature.h"

#include "absl/strings/str_cat.h"
#include "worker/pjrt/element_type.h"

namespace meshwright::worker::runner {
namespace {

absl::StatusOr<TensorSlot> ReadSlot(const hlo::ShapeProto& shape,
                                    const hlo::OpSharding& sharding,
                                    absl::string_view what) {
  if (pjrt::CountElementBytes(shape.element_type()) == 0) {
    return absl::UnimplementedError(absl::StrCat(
        what, " is of type ", hlo::PrimitiveType_Name(shape.element_type()),
        ", which cannot be uploaded or read"));
  }
  TensorSlot slot;
  slot.type = shape.element_type();
  slot.dimensions.assign(shape.dimensions().begin(), shape.dimensions().end());
  for (const int64_t dimension : slot.dimensions) {
    if (dimension < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, " has a negative dimension"));
    }
  }
  slot.sharding = sharding;
  return slot;
}

}  // namespace

absl::StatusOr<Signature> ReadSignature(const hlo::HloModuleProto& module) {
  const hlo::HloComputationProto* entry = nullptr;
  for (const auto& computation : module.computations()) {
    if (computation.id() == module.entry_computation_id()) {
      entry = &computation;
    }
  }
  if (entry == nullptr) {
    return absl::InvalidArgumentError("the module has no entry computation");
  }
  Signature signature;
  std::vector<const hlo::HloInstructionProto*> parameters;
  const hlo::HloInstructionProto* root = nullptr;
  for (const auto& instruction : entry->instructions()) {
    if (instruction.id() == entry->root_id()) root = &instruction;
    if (instruction.opcode() != "parameter") continue;
    const int64_t number = instruction.parameter_number();
    if (number < 0 || number >= entry->instructions_size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the module has a parameter numbered ", number));
    }
    if (number >= static_cast<int64_t>(parameters.size())) {
      parameters.resize(number + 1, nullptr);
    }
    parameters[number] = &instruction;
  }
  if (root == nullptr) {
    return absl::InvalidArgumentError("the entry computation has no root");
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i] == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("the module has no parameter ", i));
    }
    auto slot = ReadSlot(parameters[i]->shape(), parameters[i]->sharding(),
                         absl::StrCat("parameter ", i));
    if (!slot.ok()) return slot.status();
    signature.parameters.push_back(*std::move(slot));
  }
  const bool tuple = root->shape().element_type() == hlo::TUPLE;
  const int leaves = tuple ? root->shape().tuple_shapes_size() : 1;
  for (int i = 0; i < leaves; ++i) {
    const auto& shardings = root->sharding().tuple_shardings();
    if (!shardings.empty() && shardings.size() != leaves) {
      return absl::InvalidArgumentError(
          absl::StrCat("the root has ", leaves, " outputs but ",
                       shardings.size(), " shardings"));
    }
    auto slot = ReadSlot(tuple ? root->shape().tuple_shapes(i) : root->shape(),
                         shardings.empty() ? root->sharding() : shardings[i],
                         absl::StrCat("output ", i));
    if (!slot.ok()) return slot.status();
    signature.outputs.push_back(*std::move(slot));
  }
  signature.aliases.resize(leaves);
  for (const auto& entry : module.input_output_alias().entries()) {
    const int64_t output =
        entry.output_shape_index_size() > 0 ? entry.output_shape_index(0) : 0;
    if (output < 0 || output >= leaves || entry.parameter_number() < 0 ||
        entry.parameter_number() >= static_cast<int64_t>(parameters.size())) {
      return absl::InvalidArgumentError(
          absl::StrCat("output ", output, " aliases parameter ",
                       entry.parameter_number(), ", one of which is missing"));
    }
    signature.aliases[output] = static_cast<int>(entry.parameter_number());
  }
  return signature;
}

}  // namespace meshwright::worker::runner
