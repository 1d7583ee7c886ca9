#include "coordinator/segmenter/direction.h"

#include <algorithm>
#include <set>

#include "coordinator/ir/dim_links.h"

namespace meshwright::segmenter {
namespace {

using ir::Module;
using ir::Opcode;
using ir::ValueId;

std::vector<char> Ancestors(const Module& module,
                            const std::vector<ValueId>& of) {
  std::vector<char> marked(module.size(), 0);
  for (ValueId id : of) marked[id] = 1;
  for (ValueId id = module.size() - 1; id >= 0; --id) {
    if (!marked[id]) continue;
    for (ValueId operand : module.at(id).operands) marked[operand] = 1;
  }
  return marked;
}

// The state output of every parameter: by alias where the launcher donates,
// else the unclaimed output of its shape that is reached from it elementwise.
std::vector<int> MatchState(const Module& module) {
  std::vector<int> state(module.parameters.size(), -1);
  std::set<int> claimed;
  for (const ir::Alias& alias : module.aliases) {
    state[alias.parameter] = alias.output;
    claimed.insert(alias.output);
  }
  if (!claimed.empty()) return state;
  std::vector<std::vector<int>> outputs_at(module.size());
  for (size_t i = 0; i < module.outputs.size(); ++i) {
    outputs_at[module.outputs[i]].push_back(static_cast<int>(i));
  }
  for (size_t number = 0; number < module.parameters.size(); ++number) {
    const ir::Shape& shape = module.at(module.parameters[number]).shape;
    std::vector<ValueId> frontier = {module.parameters[number]};
    std::set<ValueId> seen;
    while (!frontier.empty() && state[number] < 0) {
      const ValueId id = frontier.back();
      frontier.pop_back();
      for (int output : outputs_at[id]) {
        if (id != module.parameters[number] && !claimed.contains(output)) {
          state[number] = output;
          claimed.insert(output);
          break;
        }
      }
      for (ValueId user : module.at(id).users) {
        if (ir::IsElementwise(module.at(user).opcode) &&
            module.at(user).shape == shape && seen.insert(user).second) {
          frontier.push_back(user);
        }
      }
    }
  }
  return state;
}

// True when `suspect` depends on a contraction that reads an operand of one of
// the contractions `loss` depends on: the mark of a gradient.
bool DependsOnGradient(const Module& module, const std::vector<char>& loss,
                       const std::vector<char>& suspect) {
  std::set<ValueId> read;
  for (ValueId id = 0; id < module.size(); ++id) {
    if (!loss[id] || !ir::IsContraction(module, id)) continue;
    for (ValueId operand : module.at(id).operands) {
      read.insert(LookThroughLayout(module, operand));
    }
  }
  for (ValueId id = 0; id < module.size(); ++id) {
    if (!suspect[id] || loss[id] || !ir::IsContraction(module, id)) continue;
    for (ValueId operand : module.at(id).operands) {
      if (read.contains(LookThroughLayout(module, operand))) return true;
    }
  }
  return false;
}

std::vector<int> FindLosses(const Module& module,
                            const std::vector<int>& state) {
  std::set<int> state_outputs(state.begin(), state.end());
  struct Candidate {
    int output;
    std::vector<char> ancestors;
    int contractions;
  };
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < module.outputs.size(); ++i) {
    if (state_outputs.contains(static_cast<int>(i))) continue;
    Candidate candidate{static_cast<int>(i),
                        Ancestors(module, {module.outputs[i]}), 0};
    for (ValueId id = 0; id < module.size(); ++id) {
      candidate.contractions +=
          candidate.ancestors[id] && ir::IsContraction(module, id);
    }
    if (candidate.contractions > 0) candidates.push_back(std::move(candidate));
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) {
                     return a.contractions < b.contractions;
                   });
  std::vector<int> losses;
  std::vector<char> covered(module.size(), 0);
  for (const Candidate& candidate : candidates) {
    if (!losses.empty() &&
        DependsOnGradient(module, covered, candidate.ancestors)) {
      continue;
    }
    losses.push_back(candidate.output);
    for (ValueId id = 0; id < module.size(); ++id) {
      covered[id] |= candidate.ancestors[id];
    }
  }
  return losses;
}

// Without state to tell them apart, integer arguments and those of the largest
// leading dimension would both be guesses: in inference an argument that a
// contraction reads with no other argument above it is a weight.
bool IsBatch(const Module& module, const Direction& direction, ValueId id) {
  const ir::Instruction& it = module.at(id);
  const int number = static_cast<int>(it.attributes().parameter_number());
  if (!direction.inference) {
    return direction.roles[number] == ArgumentRole::kBatch;
  }
  if (!ir::IsFloating(it.shape.element_type)) return true;
  std::vector<ValueId> stack = {id};
  while (!stack.empty()) {
    const ValueId at = stack.back();
    stack.pop_back();
    for (ValueId user : module.at(at).users) {
      if (ir::IsContraction(module, user)) {
        return module.at(user).operands[0] == at;
      }
      if (ir::IsLayout(module.at(user).opcode)) stack.push_back(user);
    }
  }
  return false;
}

}  // namespace

const char* RoleName(ArgumentRole role) {
  switch (role) {
    case ArgumentRole::kParameter:
      return "parameter";
    case ArgumentRole::kOptimizer:
      return "optimizer";
    case ArgumentRole::kBatch:
      return "batch";
    case ArgumentRole::kOther:
      return "other";
  }
  return "other";
}

ValueId LookThroughLayout(const Module& module, ValueId id) {
  while (ir::IsLayout(module.at(id).opcode) ||
         (module.at(id).opcode == Opcode::kBroadcast &&
          module.at(id).shape.element_count() ==
              module.at(module.at(id).operands[0]).shape.element_count())) {
    id = module.at(id).operands[0];
  }
  return id;
}

absl::StatusOr<Direction> FindDirection(const Module& module) {
  Direction direction;
  direction.state_output = MatchState(module);
  const bool has_state =
      std::any_of(direction.state_output.begin(), direction.state_output.end(),
                  [](int output) { return output >= 0; });
  direction.inference = !has_state;
  std::vector<ValueId> forward_roots;
  if (has_state) {
    direction.loss_outputs = FindLosses(module, direction.state_output);
    if (direction.loss_outputs.empty()) {
      return absl::InvalidArgumentError(
          "no output of the step is a loss: each one overwrites a donated "
          "argument or depends on a gradient; return the loss beside the new "
          "state");
    }
    for (int output : direction.loss_outputs) {
      forward_roots.push_back(module.outputs[output]);
    }
  } else {
    forward_roots = module.outputs;
  }
  direction.forward = Ancestors(module, forward_roots);

  direction.roles.resize(module.parameters.size(), ArgumentRole::kOther);
  for (size_t i = 0; i < module.parameters.size(); ++i) {
    const bool used = direction.forward[module.parameters[i]] != 0;
    const bool state = direction.state_output[i] >= 0;
    direction.roles[i] = state && used ? ArgumentRole::kParameter
                         : state       ? ArgumentRole::kOptimizer
                         : used        ? ArgumentRole::kBatch
                                       : ArgumentRole::kOther;
  }

  direction.has_contraction.resize(module.size(), 0);
  direction.recomputable.resize(module.size(), 0);
  direction.batch_derived.resize(module.size(), 0);
  for (ValueId id = 0; id < module.size(); ++id) {
    const ir::Instruction& it = module.at(id);
    bool contraction = ir::IsContraction(module, id);
    bool recomputable = true;
    bool batch = false;
    for (ValueId operand : it.operands) {
      contraction |= direction.has_contraction[operand] != 0;
      recomputable &= direction.recomputable[operand] != 0;
      batch |= direction.batch_derived[operand] != 0;
    }
    if (it.opcode == Opcode::kParameter) {
      recomputable = it.shape.is_scalar();
      batch = !it.shape.is_scalar() && IsBatch(module, direction, id);
    }
    // Random bits must be drawn once.
    if (it.opcode == Opcode::kRngBitGenerator ||
        it.opcode == Opcode::kCustomCall || it.opcode == Opcode::kUnknown) {
      recomputable = false;
    }
    direction.has_contraction[id] = contraction;
    direction.batch_derived[id] = batch;
    direction.recomputable[id] = recomputable && !contraction;
  }
  return direction;
}

}  // namespace meshwright::segmenter
