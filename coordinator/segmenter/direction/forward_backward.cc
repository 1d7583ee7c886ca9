#include "coordinator/segmenter/direction/forward_backward.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/segmenter/direction/recomputing.h"
#include "coordinator/segmenter/direction/step_outputs.h"

namespace meshwright::segmenter {
namespace {

using ir::Module;
using ir::Opcode;
using ir::ValueId;

std::vector<char> Ancestors(const Module& module,
                            const std::vector<ValueId>& of) {
  std::vector<char> marked(module.size(), 0);
  for (ValueId id : of) marked[id] = 1;
  for (const ValueId id : module.ids().Reversed()) {
    if (!marked[id]) continue;
    for (ValueId operand : module.at(id).operands) marked[operand] = 1;
  }
  return marked;
}

// Without state, integer arguments and those of the largest
// leading dimension would both be guesses: in inference an argument that a
// contraction reads with no other argument above it is a weight, and so are the
// vectors of norms and biases; a matrix that meets a norm first is none.
bool IsBatch(const Module& module, const ForwardBackward& passes, ValueId id) {
  const ir::Instruction& it = module.at(id);
  const int number = static_cast<int>(it.attributes().parameter_number());
  if (!passes.inference) {
    return passes.roles[number] == ArgumentRole::kBatch;
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
  return it.shape.rank() > 1;
}

// Whether operations that have the batch above them pass on an operand as it
// is, or join it with values of its own dimensions.
bool KeepsForm(const Module& module, ValueId id, ValueId operand) {
  const ir::Instruction& it = module.at(id);
  if (ir::IsLayout(it.opcode) || it.opcode == Opcode::kSlice) return true;
  if (it.opcode == Opcode::kDynamicSlice) return it.operands[0] == operand;
  return ir::IsElementwise(it.opcode) &&
         it.shape.dims == module.at(operand).shape.dims;
}

// Whether a contraction or a gather has read the batch, here or above: a token
// embedding, say. Masks and frozen weights meet a weight in front of these; one
// that is kept in codes is gathered from a table of constants.
bool IsActivation(const Module& module, const ForwardBackward& passes,
                  const std::vector<char>& activation, ValueId id) {
  const ir::Instruction& it = module.at(id);
  if (it.opcode == Opcode::kGather) {
    const ValueId table = it.operands[0];
    return activation[table] != 0 ||
           (passes.batch_derived[id] != 0 && passes.recomputable[table] == 0);
  }
  if (ir::IsContraction(module, id)) return passes.batch_derived[id] != 0;
  return std::any_of(it.operands.begin(), it.operands.end(),
                     [&](ValueId operand) { return activation[operand] != 0; });
}

// Of what is no activation. Without the batch, an operation makes activations'
// dimensions of a weight by a broadcast, or by a gather at places that were
// broadcast before: a learned position of each token.
bool IsWeightForm(const Module& module, const ForwardBackward& passes,
                  ValueId id) {
  const ir::Instruction& it = module.at(id);
  if (it.shape.is_tuple() || it.shape.is_scalar()) return false;
  if (it.opcode == Opcode::kParameter) {
    const auto number = it.attributes().parameter_number();
    return passes.roles[number] == ArgumentRole::kParameter;
  }
  if (it.opcode == Opcode::kBroadcast || it.opcode == Opcode::kGather) {
    return false;
  }
  return std::any_of(
      it.operands.begin(), it.operands.end(), [&](ValueId operand) {
        return passes.weight_form[operand] != 0 &&
               (!passes.batch_derived[id] || KeepsForm(module, id, operand));
      });
}

// A few words from which more than a few are drawn, outside of any loop.
std::vector<char> RandomKeys(const Module& module) {
  constexpr int64_t kMaxWords = 16;
  const auto small = [&](ValueId id) {
    return !module.at(id).shape.is_tuple() &&
           module.at(id).shape.element_count() <= kMaxWords;
  };
  // Loops that draw more than a few.
  std::vector<char> draws(module.loops.size(), 0);
  for (const ValueId id : module.ids()) {
    if (small(id)) continue;
    for (std::optional<ir::LoopId> loop = module.at(id).loop; loop.has_value();
         loop = module.loops[*loop].parent) {
      draws[*loop] = 1;
    }
  }
  std::vector<char> keys(module.size(), 0);
  for (const ValueId id : module.ids()) {
    const ir::Instruction& it = module.at(id);
    if (it.shape.element_type != hlo::U32 || !small(id) ||
        it.loop.has_value() || it.opcode == Opcode::kConstant ||
        it.opcode == Opcode::kParameter) {
      continue;
    }
    keys[id] = std::any_of(it.users.begin(), it.users.end(), [&](ValueId user) {
      const ir::Instruction& reader = module.at(user);
      return reader.opcode == Opcode::kCarry
                 ? draws[reader.boundary->loop] != 0
                 : !small(user) && ir::IsInteger(reader.shape.element_type);
    });
  }
  return keys;
}

std::vector<char> LoopsWithContractions(const Module& module) {
  std::vector<char> heavy(module.loops.size(), 0);
  for (const ValueId id : module.ids()) {
    const std::optional<ir::LoopId> loop = module.at(id).loop;
    if (loop.has_value() && ir::IsContraction(module, id)) heavy[*loop] = 1;
  }
  // Outer loops come before inner ones.
  for (size_t loop = heavy.size(); loop-- > 0;) {
    const std::optional<ir::LoopId> parent = module.loops[loop].parent;
    if (parent.has_value() && heavy[loop]) heavy[*parent] = 1;
  }
  return heavy;
}

void FindBuffers(const Module& module, ForwardBackward& passes) {
  passes.overwritten.resize(module.size(), 0);
  passes.left_beside.resize(module.size(), 0);
  std::vector<char> taken(module.outputs.size(), 0);
  for (const ir::Alias& alias : module.aliases) {
    passes.overwritten[module.parameters[alias.parameter]] = 1;
    taken[alias.output] = 1;
  }
  for (size_t i = 0; i < module.outputs.size(); ++i) {
    if (taken[i] == 0) passes.left_beside[module.outputs[i]] = 1;
  }
}

}  // namespace

const char* NameRole(ArgumentRole role) {
  constexpr const char* kNames[] = {"parameter", "optimizer", "batch", "other"};
  return kNames[static_cast<size_t>(role)];
}

absl::StatusOr<ForwardBackward> FindForwardBackward(const Module& module) {
  ForwardBackward passes;
  bool cut_short = false;
  passes.state_output = MatchState(module, &cut_short);
  if (cut_short) {
    passes.cut_short.push_back(
        "the search for state ended at its bound: arguments that it did not "
        "match with an output count as batch; donate them");
  }
  const bool has_state =
      std::any_of(passes.state_output.begin(), passes.state_output.end(),
                  [](const auto& output) { return output.has_value(); });
  passes.inference = !has_state;
  FindBuffers(module, passes);
  std::vector<ValueId> forward_roots;
  if (has_state) {
    passes.loss_outputs = FindLosses(module, passes.state_output, &cut_short);
    if (cut_short) {
      passes.cut_short.push_back(
          "the search for losses ended at its bound: outputs that depend on a "
          "gradient may count as losses");
    }
    if (passes.loss_outputs.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "no output of ", std::string(module.at(module.root).name()),
          " is a loss: each one overwrites a donated argument or depends on a "
          "gradient; return the loss beside the new state"));
    }
    for (int output : passes.loss_outputs) {
      forward_roots.push_back(module.outputs[output]);
    }
  } else {
    forward_roots = module.outputs;
  }
  passes.forward = Ancestors(module, forward_roots);

  passes.roles.resize(module.parameters.size(), ArgumentRole::kOther);
  for (size_t i = 0; i < module.parameters.size(); ++i) {
    const bool used = passes.forward[module.parameters[i]] != 0;
    const bool state = passes.state_output[i].has_value();
    passes.roles[i] = state && used ? ArgumentRole::kParameter
                      : state       ? ArgumentRole::kOptimizer
                      : used        ? ArgumentRole::kBatch
                                    : ArgumentRole::kOther;
  }

  passes.has_contraction.resize(module.size(), 0);
  passes.recomputable.resize(module.size(), 0);
  passes.batch_derived.resize(module.size(), 0);
  passes.weight_form.resize(module.size(), 0);
  passes.random_key = RandomKeys(module);
  std::vector<char> activation(module.size(), 0);
  const std::vector<char> heavy = LoopsWithContractions(module);
  for (const ValueId id : module.ids()) {
    const ir::Instruction& it = module.at(id);
    bool contraction = ir::IsContraction(module, id);
    bool recomputable = true;
    bool batch = false;
    for (ValueId operand : it.operands) {
      contraction |= passes.has_contraction[operand] != 0;
      recomputable &= passes.recomputable[operand] != 0;
      batch |= passes.batch_derived[operand] != 0;
    }
    if (it.opcode == Opcode::kParameter) {
      recomputable = it.shape.is_scalar();
      batch = !it.shape.is_scalar() && IsBatch(module, passes, id);
    }
    // Random bits must be drawn once.
    if (it.opcode == Opcode::kRngBitGenerator ||
        it.opcode == Opcode::kCustomCall || it.opcode == Opcode::kUnknown) {
      recomputable = false;
    }
    if (passes.random_key[id]) recomputable = false;
    // The count of such a loop is known only where the loop has run.
    if (it.opcode == Opcode::kLoopResult && heavy[it.boundary->loop]) {
      recomputable = false;
    }
    passes.has_contraction[id] = contraction;
    passes.batch_derived[id] = batch;
    activation[id] = IsActivation(module, passes, activation, id);
    passes.weight_form[id] =
        activation[id] == 0 && IsWeightForm(module, passes, id);
    passes.recomputable[id] = recomputable && !contraction;
  }
  if (LimitRecomputing(module, passes.recomputable)) {
    passes.cut_short.push_back(
        "many operations read values made of constants alone: the larger of "
        "these are computed once and sent, not in every segment");
  }
  return passes;
}

}  // namespace meshwright::segmenter
