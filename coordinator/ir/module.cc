#include "coordinator/ir/module.h"

#include <google/protobuf/stubs/logging.h>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/ir/inline_calls.h"
#include "coordinator/ir/text/hlo_text.h"
#include "coordinator/ir/verify.h"

namespace meshwright::ir {
namespace {

absl::Status ReadAliases(const hlo::HloModuleProto& proto, Module& module) {
  for (const auto& entry : proto.input_output_alias().entries()) {
    const int64_t parameter = entry.parameter_number();
    // A root that is no tuple is named by the empty index.
    if (entry.output_shape_index_size() > 1 ||
        entry.parameter_shape_index_size() > 0) {
      continue;  // nested tuples carry no state we could follow
    }
    const int64_t output =
        entry.output_shape_index_size() == 0 ? 0 : entry.output_shape_index(0);
    if (parameter < 0 ||
        parameter >= static_cast<int64_t>(module.parameters.size()) ||
        output < 0 || output >= static_cast<int64_t>(module.outputs.size())) {
      return absl::InvalidArgumentError(
          absl::StrCat("the alias of output ", output, " and parameter ",
                       parameter, " names one that does not exist"));
    }
    module.aliases.push_back(
        {static_cast<int>(output), static_cast<int>(parameter)});
  }
  return absl::OkStatus();
}

absl::Status Parse(std::string_view bytes, hlo::HloModuleProto& module) {
  if (bytes.empty()) return absl::InvalidArgumentError("the file is empty");
  if (LooksLikeHloText(bytes)) {
    ASSIGN_OR_RETURN(module, ParseHloText(bytes));
    return absl::OkStatus();
  }
  if (bytes.size() > (size_t{1} << 31) - 1) {
    return absl::InvalidArgumentError(
        "the file is larger than the 2 GiB a protobuf message may have");
  }
  const int size = static_cast<int>(bytes.size());
  // The status says it; protobuf's own lines on stderr would repeat it.
  const google::protobuf::LogSilencer silencer;
  hlo::HloProto wrapper;
  if (wrapper.ParseFromArray(bytes.data(), size) &&
      !wrapper.hlo_module().computations().empty()) {
    module = std::move(*wrapper.mutable_hlo_module());
    return absl::OkStatus();
  }
  if (!module.ParseFromArray(bytes.data(), size)) {
    return absl::InvalidArgumentError(
        "the file is no HLO module, or a truncated one; pass a serialized "
        "HloModuleProto or HLO text");
  }
  return absl::OkStatus();
}

// `proto` lives in `arena`.
absl::StatusOr<Module> Build(const hlo::HloModuleProto& proto,
                             std::shared_ptr<google::protobuf::Arena> arena) {
  RETURN_IF_ERROR(VerifyStructure(proto));
  ASSIGN_OR_RETURN(Module module, Flatten(proto));
  module.arena = std::move(arena);
  for (ValueId id = 0; id < module.size(); ++id) {
    RETURN_IF_ERROR(VerifyShape(module, id));
  }
  Tidy(module);
  RETURN_IF_ERROR(ReadAliases(proto, module));
  return module;
}

}  // namespace

hlo::HloInstructionProto* Module::NewAttributes() {
  return google::protobuf::Arena::CreateMessage<hlo::HloInstructionProto>(
      arena.get());
}

hlo::HloInstructionProto* Module::NewAttributes(
    const hlo::HloInstructionProto& like) {
  hlo::HloInstructionProto* const made = NewAttributes();
  *made = like;
  return made;
}

void Tidy(Module& module) {
  const int count = module.size();
  std::vector<char> needed(count, 0);
  std::vector<ValueId> order;
  order.reserve(count);
  // Post-order from the parameters and the root, without recursion.
  std::vector<std::pair<ValueId, size_t>> stack;
  const auto visit = [&](ValueId start) {
    if (needed[start]) return;
    needed[start] = 1;
    stack.emplace_back(start, 0);
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      const auto& operands = module.instructions[id].operands;
      if (next < operands.size()) {
        const ValueId operand = operands[next++];
        if (!needed[operand]) {
          needed[operand] = 1;
          stack.emplace_back(operand, 0);
        }
      } else {
        order.push_back(id);
        stack.pop_back();
      }
    }
  };
  for (ValueId id : module.parameters) visit(id);
  visit(module.root);

  std::vector<ValueId> renamed(count, -1);
  std::vector<Instruction> instructions;
  instructions.reserve(order.size());
  for (ValueId id : order) {
    renamed[id] = static_cast<ValueId>(instructions.size());
    Instruction instruction = std::move(module.instructions[id]);
    for (ValueId& operand : instruction.operands) operand = renamed[operand];
    instruction.users.clear();
    instructions.push_back(std::move(instruction));
  }
  module.instructions = std::move(instructions);
  module.root = renamed[module.root];
  for (ValueId& id : module.parameters) id = renamed[id];
  for (ValueId id = 0; id < module.size(); ++id) {
    for (ValueId operand : module.at(id).operands) {
      auto& users = module.instructions[operand].users;
      if (users.empty() || users.back() != id) users.push_back(id);
    }
  }
  const Instruction& root = module.at(module.root);
  module.outputs = root.opcode == Opcode::kTuple
                       ? root.operands
                       : std::vector<ValueId>{module.root};
}

absl::StatusOr<hlo::HloModuleProto> ParseModule(std::string_view bytes) {
  hlo::HloModuleProto module;
  RETURN_IF_ERROR(Parse(bytes, module));
  return module;
}

absl::StatusOr<Module> BuildModule(hlo::HloModuleProto proto) {
  auto arena = std::make_shared<google::protobuf::Arena>();
  auto* const kept = new hlo::HloModuleProto(std::move(proto));
  arena->Own(kept);
  return Build(*kept, std::move(arena));
}

absl::StatusOr<Module> LoadModule(std::string_view bytes) {
  auto arena = std::make_shared<google::protobuf::Arena>();
  auto* const proto =
      google::protobuf::Arena::CreateMessage<hlo::HloModuleProto>(arena.get());
  RETURN_IF_ERROR(Parse(bytes, *proto));
  return Build(*proto, std::move(arena));
}

}  // namespace meshwright::ir
