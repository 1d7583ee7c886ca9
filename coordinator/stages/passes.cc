#include "coordinator/stages/passes.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "coordinator/ir/opcode.h"

namespace meshwright::stages {
namespace {

using ir::Opcode;
using ir::ValueId;
using segmenter::Analysis;
using segmenter::SegmentIndex;

bool Owned(const Analysis& analysis, ValueId id) {
  return analysis.plan.owner[id].IsSegment();
}

bool IsSmall(const ir::Shape& shape) {
  return !shape.is_tuple() && shape.element_count() <= 1;
}

// Operations that an update is made of.
bool MayUpdate(const ir::Instruction& it) {
  if (ir::IsLoopBoundary(it.opcode)) return false;
  return ir::IsElementwise(it.opcode) || ir::IsLayout(it.opcode) ||
         it.opcode == Opcode::kBroadcast || IsSmall(it.shape);
}

std::vector<char> StateOutputs(const Analysis& analysis) {
  std::vector<char> is_state(analysis.module.size(), 0);
  for (const std::optional<int> output : analysis.passes.state_output) {
    if (output.has_value()) is_state[analysis.module.outputs[*output]] = 1;
  }
  return is_state;
}

// Of the outputs of a segment that are no update: whether somebody reads one
// for more than the update.
bool IsRead(const Analysis& analysis, const StepPasses& passes, ValueId id) {
  const auto& users = analysis.module.at(id).users;
  return std::any_of(users.begin(), users.end(), [&](ValueId user) {
    return Owned(analysis, user) && !passes.update[user] &&
           analysis.plan.owner[user] != analysis.plan.owner[id];
  });
}

// Ancestors of the losses, whole loops at a time.
std::vector<char> FindForward(const Analysis& analysis) {
  const ir::Module& module = analysis.module;
  if (module.loops.empty()) return analysis.passes.forward;
  std::vector<std::vector<ValueId>> members(module.loops.size());
  for (const ValueId id : module.ids()) {
    const std::optional<ir::LoopId> loop = FindKeptLoop(analysis, id);
    if (loop.has_value()) members[*loop].push_back(id);
  }
  std::vector<char> forward(module.size(), 0);
  std::vector<ValueId> stack;
  const auto mark = [&](ValueId id) {
    if (std::exchange(forward[id], 1) == 0) stack.push_back(id);
  };
  for (const ValueId id : module.ids()) {
    if (analysis.passes.forward[id]) mark(id);
  }
  while (!stack.empty()) {
    const ValueId id = stack.back();
    stack.pop_back();
    for (const ValueId operand : module.at(id).operands) mark(operand);
    const std::optional<ir::LoopId> loop = FindKeptLoop(analysis, id);
    if (!loop.has_value() || !Owned(analysis, id)) continue;
    for (const ValueId member : std::exchange(members[*loop], {})) mark(member);
  }
  return forward;
}

}  // namespace

std::optional<ir::LoopId> FindKeptLoop(const Analysis& analysis, ValueId id) {
  const ir::Instruction& it = analysis.module.at(id);
  std::optional<ir::LoopId> found;
  std::optional<ir::LoopId> loop = it.loop;
  if (it.boundary.has_value()) loop = it.boundary->loop;
  for (; loop.has_value(); loop = analysis.module.loops[*loop].parent) {
    if (analysis.plan.kept_loops[*loop]) found = loop;
  }
  return found;
}

bool IsForm(const ir::Instruction& it) {
  return it.opcode == Opcode::kBroadcast || it.opcode == Opcode::kReshape ||
         it.opcode == Opcode::kBitcast;
}

StepPasses FindPasses(const Analysis& analysis) {
  const ir::Module& module = analysis.module;
  StepPasses passes;
  passes.forward = FindForward(analysis);
  passes.update.assign(module.size(), 0);
  passes.weight_gradient.assign(module.size(), 0);
  const std::vector<char> is_state = StateOutputs(analysis);
  for (const ValueId id : module.ids().Reversed()) {
    const ir::Instruction& it = module.at(id);
    if (!Owned(analysis, id) || analysis.passes.forward[id] || !MayUpdate(it)) {
      continue;
    }
    const bool leaves =
        is_state[id] ||
        std::any_of(it.users.begin(), it.users.end(),
                    [&](ValueId user) { return Owned(analysis, user); });
    passes.update[id] =
        leaves &&
        std::all_of(it.users.begin(), it.users.end(), [&](ValueId user) {
          return !Owned(analysis, user) || passes.update[user] != 0;
        });
  }
  for (const ValueId id : module.ids()) {
    // Where nothing follows the gradient it is the new state itself.
    if (!passes.update[id]) {
      passes.weight_gradient[id] |=
          is_state[id] && Owned(analysis, id) && !analysis.passes.forward[id];
      continue;
    }
    for (const ValueId operand : module.at(id).operands) {
      if (Owned(analysis, operand) && !analysis.passes.forward[operand] &&
          !passes.update[operand]) {
        passes.weight_gradient[operand] = 1;
      }
    }
  }
  return passes;
}

SegmentPasses ListPassOutputs(const Analysis& analysis,
                              const StepPasses& passes, SegmentIndex segment) {
  const segmenter::SegmentGraph& graph = analysis.graphs[segment];
  SegmentPasses out;
  for (const int output : graph.outputs) {
    const ValueId id = graph.values[output].origin;
    if (passes.forward[id]) out.forward.push_back(output);
  }
  out.with_input_gradients = out.forward;
  for (const int output : graph.outputs) {
    const ValueId id = graph.values[output].origin;
    if (passes.forward[id] || passes.update[id]) continue;
    if (IsRead(analysis, passes, id)) {
      out.with_input_gradients.push_back(output);
    }
  }
  out.with_all_gradients = out.with_input_gradients;
  std::set<int> known(out.with_all_gradients.begin(),
                      out.with_all_gradients.end());
  for (const int i : ListWeightGradients(analysis, passes, segment)) {
    if (known.insert(i).second) out.with_all_gradients.push_back(i);
  }
  return out;
}

std::vector<int> ListWeightGradients(const Analysis& analysis,
                                     const StepPasses& passes,
                                     SegmentIndex segment) {
  const segmenter::SegmentGraph& graph = analysis.graphs[segment];
  std::vector<int> gradients;
  for (int i = graph.input_count; i < static_cast<int>(graph.values.size());
       ++i) {
    const ValueId id = graph.values[i].origin;
    if (passes.weight_gradient[id] && analysis.plan.owner[id] == segment) {
      gradients.push_back(i);
    }
  }
  return gradients;
}

}  // namespace meshwright::stages
