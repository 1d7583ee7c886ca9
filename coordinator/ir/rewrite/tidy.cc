#include "coordinator/ir/rewrite/tidy.h"

#include <optional>
#include <utility>
#include <vector>

#include "coordinator/ir/loops.h"

namespace meshwright::ir {
namespace {

// The values that the outputs, and the loops on the way to them, need.
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
    if (it.loop.has_value() || it.boundary.has_value()) {
      for (ValueId companion : walk.ListCompanions(id)) mark(companion);
    }
  }
  return alive;
}

void RenameLoops(const std::vector<ValueId>& renamed, Module& module) {
  for (Loop& loop : module.loops) {
    for (auto* ids : {&loop.carries, &loop.results}) {
      for (std::optional<ValueId>& id : *ids) {
        if (id.has_value()) id = renamed[*id];
      }
    }
  }
}

}  // namespace

void Tidy(Module& module) {
  const int count = module.size();
  const std::vector<char> alive = Alive(module);
  for (Loop& loop : module.loops) {
    for (auto* ids : {&loop.carries, &loop.results}) {
      for (std::optional<ValueId>& id : *ids) {
        if (id.has_value() && !alive[*id]) id.reset();
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
    std::vector<ValueId> before;  // the predecessors of a loop boundary
  };
  std::vector<Visit> stack;
  LoopWalk walk(module);
  const auto push = [&](ValueId id) {
    seen[id] = 1;
    stack.push_back({id, 0, {}});
    if (module.at(id).boundary.has_value()) {
      stack.back().before = walk.ListPredecessors(id);
    }
  };
  const auto visit = [&](ValueId start) {
    if (seen[start] || !alive[start]) return;
    push(start);
    while (!stack.empty()) {
      Visit& top = stack.back();
      const auto& before = module.at(top.id).boundary.has_value()
                               ? top.before
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
  for (const ValueId id : module.ids()) {
    // Nothing below reaches values that only the next trip of a loop needs.
    if (module.at(id).opcode == Opcode::kLoopResult) visit(id);
  }
  visit(module.root);

  std::vector<ValueId> renamed(count);  // of those alive
  std::vector<Instruction> instructions;
  instructions.reserve(order.size());
  for (ValueId id : order) {
    renamed[id] = ValueId(instructions.size());
    Instruction instruction = std::move(module.instructions[id]);
    for (ValueId& operand : instruction.operands) operand = renamed[operand];
    instruction.users.clear();
    instructions.push_back(std::move(instruction));
  }
  module.instructions = std::move(instructions);
  module.root = renamed[module.root];
  for (ValueId& id : module.parameters) id = renamed[id];
  RenameLoops(renamed, module);
  for (const ValueId id : module.ids()) {
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

}  // namespace meshwright::ir
