#include "coordinator/ir/module.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/ir/inline_calls.h"
#include "coordinator/ir/loops.h"
#include "coordinator/ir/parse.h"
#include "coordinator/ir/resolve.h"
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

// Where operations came from is long, is read of arguments only, and would be
// copied into every program.
void DropOrigins(hlo::HloModuleProto& proto) {
  for (hlo::HloComputationProto& computation : *proto.mutable_computations()) {
    for (hlo::HloInstructionProto& it : *computation.mutable_instructions()) {
      if (it.opcode() != "parameter") it.clear_metadata();
    }
  }
}

// `proto` lives in `arena`.
absl::StatusOr<Module> Build(const hlo::HloModuleProto& proto,
                             std::shared_ptr<google::protobuf::Arena> arena) {
  ASSIGN_OR_RETURN(const ResolvedModule resolved, Resolve(proto));
  ASSIGN_OR_RETURN(Module module, Flatten(proto, resolved));
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

namespace {

// What the outputs, and the loops on the way to them, need.
std::vector<char> Alive(const Module& module) {
  std::vector<char> alive(module.size(), 0);
  std::vector<ValueId> stack;
  LoopWalk walk(module);
  const auto mark = [&](ValueId id) {
    if (alive[id]) return;
    alive[id] = 1;
    stack.push_back(id);
  };
  for (ValueId id : module.parameters) mark(id);
  mark(module.root);
  while (!stack.empty()) {
    const ValueId id = stack.back();
    stack.pop_back();
    const Instruction& it = module.at(id);
    for (ValueId operand : it.operands) mark(operand);
    if (it.loop != kNoLoop || it.border != kNoLoop) {
      for (ValueId companion : walk.Companions(id)) mark(companion);
    }
  }
  return alive;
}

void RenameLoops(const std::vector<ValueId>& renamed, Module& module) {
  for (Loop& loop : module.loops) {
    for (auto* ids : {&loop.carries, &loop.results}) {
      for (ValueId& id : *ids) id = id < 0 ? id : renamed[id];
    }
  }
}

}  // namespace

void Tidy(Module& module) {
  const int count = module.size();
  const std::vector<char> alive = Alive(module);
  for (Loop& loop : module.loops) {
    for (auto* ids : {&loop.carries, &loop.results}) {
      for (ValueId& id : *ids) {
        if (id >= 0 && !alive[id]) id = -1;
      }
    }
  }
  std::vector<char> seen(count, 0);
  std::vector<ValueId> order;
  order.reserve(count);
  // Post-order from the parameters and the root, without recursion.
  struct Visit {
    ValueId id;
    size_t next;
    std::vector<ValueId> border;  // the predecessors of a loop's border
  };
  std::vector<Visit> stack;
  LoopWalk walk(module);
  const auto push = [&](ValueId id) {
    seen[id] = 1;
    stack.push_back({id, 0, {}});
    if (module.at(id).border != kNoLoop) {
      stack.back().border = walk.Predecessors(id);
    }
  };
  const auto visit = [&](ValueId start) {
    if (seen[start] || !alive[start]) return;
    push(start);
    while (!stack.empty()) {
      Visit& top = stack.back();
      const auto& before = module.at(top.id).border != kNoLoop
                               ? top.border
                               : module.at(top.id).operands;
      if (top.next < before.size()) {
        const ValueId id = before[top.next++];
        if (!seen[id]) push(id);
      } else {
        order.push_back(top.id);
        stack.pop_back();
      }
    }
  };
  for (ValueId id : module.parameters) visit(id);
  for (ValueId id = 0; id < count; ++id) {
    // What only the next trip of a loop needs hangs on nothing below.
    if (module.at(id).opcode == Opcode::kLoopResult) visit(id);
  }
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
  RenameLoops(renamed, module);
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
  google::protobuf::Arena arena;
  ASSIGN_OR_RETURN(hlo::HloModuleProto* const proto, ParseInto(bytes, arena));
  return std::move(*proto);
}

absl::StatusOr<Module> BuildModule(hlo::HloModuleProto proto) {
  auto arena = std::make_shared<google::protobuf::Arena>();
  auto* const kept = new hlo::HloModuleProto(std::move(proto));
  arena->Own(kept);
  DropOrigins(*kept);
  return Build(*kept, std::move(arena));
}

absl::StatusOr<Module> LoadModule(std::string_view bytes) {
  google::protobuf::ArenaOptions options;
  // protobuf keeps its cleanup list at a block's end: whole words only.
  options.start_block_size =
      std::clamp<size_t>(bytes.size(), 4096, 1 << 20) / 8 * 8;
  options.max_block_size = 1 << 20;
  auto arena = std::make_shared<google::protobuf::Arena>(options);
  ASSIGN_OR_RETURN(hlo::HloModuleProto* const proto, ParseInto(bytes, *arena));
  DropOrigins(*proto);
  return Build(*proto, std::move(arena));
}

}  // namespace meshwright::ir
