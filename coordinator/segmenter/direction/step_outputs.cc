#include "coordinator/segmenter/direction/step_outputs.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "coordinator/ir/links/contraction_dims.h"
#include "coordinator/segmenter/direction/layout_walk.h"
#include "coordinator/segmenter/direction/root_order.h"
#include "coordinator/segmenter/direction/state_search.h"

namespace meshwright::segmenter {
namespace {

using ir::Module;
using ir::ValueId;

// So many looks at a value, per value of the module, find gradients.
constexpr int64_t kMaxLossLooks = 64;
// Beyond so many outputs their depths stand for their counts.
constexpr size_t kMaxCounted = 4096;

class LossFinder {
 public:
  explicit LossFinder(const Module& module)
      : module_(module),
        is_contraction_(module.size(), 0),
        order_(module.size()),
        looks_left_(kMaxLossLooks * module.size()) {
    for (const ValueId id : module.ids()) {
      is_contraction_[id] = ir::IsContraction(module, id);
    }
  }

  std::vector<int> Find(const std::vector<std::optional<int>>& state) {
    std::vector<char> is_state(module_.outputs.size(), 0);
    for (const std::optional<int> output : state) {
      if (output.has_value()) is_state[*output] = 1;
    }
    std::vector<int> candidates;
    for (size_t i = 0; i < is_state.size(); ++i) {
      if (!is_state[i]) candidates.push_back(static_cast<int>(i));
    }
    const std::vector<int> weights = Weigh(candidates);
    std::vector<std::tuple<int, int64_t, int>> order;  // weight, size, output
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (weights[i] == 0) continue;
      const ir::Shape& shape = module_.at(module_.outputs[candidates[i]]).shape;
      order.emplace_back(weights[i], shape.element_count(), candidates[i]);
    }
    std::sort(order.begin(), order.end());
    if (order.size() == 1) return {std::get<2>(order[0])};
    FindReads();
    std::vector<int> losses;
    for (const auto& [weight, size, output] : order) {
      if (tainted_[module_.outputs[output]]) continue;
      losses.push_back(output);
      Cover(module_.outputs[output]);
    }
    return losses;
  }

  bool is_cut_short() const { return looks_left_ < 0 || order_.is_cut_short(); }

 private:
  void FindReads() {
    covered_.assign(module_.size(), 0);
    tainted_.assign(module_.size(), 0);
    readers_.resize(module_.size());
    number_.resize(module_.size());
    has_argument_.assign(module_.size(), 0);
    const std::vector<ValueId> bases = FindLayoutBases(module_, nullptr);
    for (const ValueId id : module_.ids()) {
      const ir::Instruction& it = module_.at(id);
      order_.Follow(id, it.operands);
      has_argument_[id] = it.opcode == ir::Opcode::kParameter ||
                          std::any_of(it.operands.begin(), it.operands.end(),
                                      [&](ValueId operand) {
                                        return has_argument_[operand] != 0;
                                      });
      if (!is_contraction_[id]) continue;
      number_[id] = order_.Open(id);
      for (ValueId operand : it.operands) {
        readers_[bases[operand]].push_back(id);
        reads_.emplace_back(id, bases[operand]);
      }
    }
  }

  // Contractions at or above each output, 64 outputs at a time.
  std::vector<int> Weigh(const std::vector<int>& outputs) const {
    std::vector<int> weights(outputs.size(), 0);
    if (outputs.size() > kMaxCounted) return Depths(outputs);
    std::vector<uint64_t> below(module_.size());
    for (size_t first = 0; first < outputs.size(); first += 64) {
      std::fill(below.begin(), below.end(), 0);
      const size_t count = std::min<size_t>(64, outputs.size() - first);
      for (size_t i = 0; i < count; ++i) {
        below[module_.outputs[outputs[first + i]]] |= uint64_t{1} << i;
      }
      for (const ValueId id : module_.ids().Reversed()) {
        if (below[id] == 0) continue;
        for (ValueId operand : module_.at(id).operands) {
          below[operand] |= below[id];
        }
        if (!is_contraction_[id]) continue;
        for (uint64_t rest = below[id]; rest != 0; rest &= rest - 1) {
          ++weights[first + std::countr_zero(rest)];
        }
      }
    }
    return weights;
  }

  std::vector<int> Depths(const std::vector<int>& outputs) const {
    std::vector<int> depth(module_.size(), 0);
    for (const ValueId id : module_.ids()) {
      for (ValueId operand : module_.at(id).operands) {
        depth[id] = std::max(depth[id], depth[operand]);
      }
      depth[id] += is_contraction_[id];
    }
    std::vector<int> depths;
    depths.reserve(outputs.size());
    for (int output : outputs) {
      depths.push_back(depth[module_.outputs[output]]);
    }
    return depths;
  }

  // Takes all that a loss needs for forward; what depends on a gradient of it
  // is tainted. Neither ever changes, so every value is marked once.
  void Cover(ValueId loss) {
    std::vector<ValueId> stack = {loss};
    std::vector<std::pair<ValueId, ValueId>> reads;  // contraction, base
    covered_[loss] = 1;
    while (!stack.empty()) {
      const ValueId id = stack.back();
      stack.pop_back();
      if (is_contraction_[id]) {
        auto read = std::lower_bound(reads_.begin(), reads_.end(),
                                     std::pair<ValueId, ValueId>(id, 0));
        for (; read != reads_.end() && read->first == id; ++read) {
          reads.push_back(*read);
        }
      }
      for (ValueId operand : module_.at(id).operands) {
        if (std::exchange(covered_[operand], 1) == 0) stack.push_back(operand);
      }
    }
    for (const auto& [forward, base] : reads) {
      for (ValueId reader : readers_[base]) {
        if (--looks_left_ < 0) return;
        if (!covered_[reader] && !tainted_[reader] &&
            Differentiates(reader, forward)) {
          Taint(reader);
        }
      }
    }
  }

  // Of two contractions that read the same: the other operand of one is the
  // cotangent of the other, and so behind it, or made of constants where the
  // loss is linear.
  bool Differentiates(ValueId backward, ValueId forward) const {
    for (ValueId operand : module_.at(backward).operands) {
      if (!has_argument_[operand]) return true;
    }
    return backward > forward &&
           !order_.Unrelated(order_.MakeGroup(number_[forward]),
                             order_.MakeGroup(number_[backward]));
  }

  void Taint(ValueId contraction) {
    std::vector<ValueId> stack = {contraction};
    while (!stack.empty()) {
      const ValueId id = stack.back();
      stack.pop_back();
      if (std::exchange(tainted_[id], 1) != 0) continue;
      for (ValueId user : module_.at(id).users) stack.push_back(user);
    }
  }

  const Module& module_;
  std::vector<char> is_contraction_;
  std::vector<char> covered_;       // a loss needs it
  std::vector<char> tainted_;       // depends on a gradient
  std::vector<char> has_argument_;  // is one, or follows from one
  RootOrder order_;                 // of all contractions
  std::vector<int> number_;         // by ValueId: a contraction's number there
  std::vector<std::vector<ValueId>> readers_;       // contractions, by base
  std::vector<std::pair<ValueId, ValueId>> reads_;  // contraction, base
  int64_t looks_left_;
};

// By output number: whether a contraction is above it.
std::vector<char> ListContracted(const Module& module) {
  std::vector<char> has_contraction(module.size(), 0);
  for (const ValueId id : module.ids()) {
    const auto& operands = module.at(id).operands;
    has_contraction[id] =
        ir::IsContraction(module, id) ||
        std::any_of(operands.begin(), operands.end(), [&](ValueId operand) {
          return has_contraction[operand] != 0;
        });
  }
  std::vector<char> contracted;
  for (const ValueId id : module.outputs) {
    contracted.push_back(has_contraction[id]);
  }
  return contracted;
}

// By output number: whether it depends on a gradient. Such an output has a
// contraction above it, and is no loss.
std::vector<char> FindUpdates(const Module& module,
                              const std::vector<std::optional<int>>& state) {
  std::vector<char> updates = ListContracted(module);
  for (const int loss : LossFinder(module).Find(state)) updates[loss] = 0;
  return updates;
}

// Adds new states of arguments that are not donated to those of the rest. What
// a batch becomes depends on no gradient (a prediction, say).
void MatchKept(const Module& module, std::vector<std::optional<int>>& state,
               bool* cut_short) {
  std::vector<char> taken(module.outputs.size(), 0);
  for (const std::optional<int>& output : state) {
    if (output.has_value()) taken[*output] = 1;
  }
  StateSearch search(module, taken);
  std::vector<std::pair<int, int>> found;  // parameter, output
  for (const int number : ListKeptTensors(module)) {
    const std::optional<int> output = search.Claim(number);
    if (output.has_value()) found.emplace_back(number, *output);
  }
  if (cut_short != nullptr) *cut_short = search.is_cut_short();
  if (found.empty()) return;
  const std::vector<char> updates = FindUpdates(module, state);
  for (const auto& [number, output] : found) {
    if (updates[output]) state[number] = output;
  }
}

// By ValueId: what outputs that are no state follow from, these included.
std::vector<char> MarkAboveResults(
    const Module& module, const std::vector<std::optional<int>>& state) {
  std::vector<char> is_state(module.outputs.size(), 0);
  for (const std::optional<int>& output : state) {
    if (output.has_value()) is_state[*output] = 1;
  }
  std::vector<char> above(module.size(), 0);
  for (size_t i = 0; i < is_state.size(); ++i) {
    if (!is_state[i]) above[module.outputs[i]] = 1;
  }
  for (const ValueId id : module.ids().Reversed()) {
    if (!above[id]) continue;
    for (const ValueId operand : module.at(id).operands) above[operand] = 1;
  }
  return above;
}

// Whether contractions read an argument as their second operand alone, in any
// layout or type, as they do a weight.
bool IsReadAsWeight(const Module& module, ValueId argument) {
  bool is_read = false;
  std::vector<ValueId> stack = {argument};
  while (!stack.empty()) {
    const ValueId at = stack.back();
    stack.pop_back();
    for (const ValueId user : module.at(at).users) {
      if (ir::IsContraction(module, user)) {
        if (module.at(user).operands[0] == at) return false;
        is_read = true;
      } else if (ir::IsLayout(module.at(user).opcode)) {
        stack.push_back(user);
      }
    }
  }
  return is_read;
}

// The first dimensions of tokens, labels and batches that become no state. Not
// those of weights and tables, nor of the keys of random bits.
std::set<int64_t> ListBatchSizes(const Module& module,
                                 const std::vector<std::optional<int>>& state) {
  std::set<int64_t> sizes;
  StateSearch search(module);
  for (size_t number = 0; number < state.size(); ++number) {
    const ValueId id = module.parameters[number];
    const ir::Shape& shape = module.at(id).shape;
    if (state[number].has_value() || shape.is_tuple() || shape.is_scalar() ||
        shape.element_type == hlo::U32) {
      continue;
    }
    const bool is_table = ir::IsFloating(shape.element_type) &&
                          (shape.rank() == 1 || IsReadAsWeight(module, id));
    if (!is_table && !search.Claim(static_cast<int>(number)).has_value()) {
      sizes.insert(shape.dims[0]);
    }
  }
  return sizes;
}

// A batch has rows: as many as tokens or labels have, where there are any.
// Statistics and the vectors of power iterations depend on no gradient either.
// They have no rows, and are state.
bool MayBeBatch(const ir::Shape& shape, const std::set<int64_t>& sizes) {
  return !shape.is_tuple() && shape.rank() > 1 && shape.dims[0] > 1 &&
         ir::IsFloating(shape.element_type) &&
         (sizes.empty() || sizes.contains(shape.dims[0]));
}

// Of arguments with an output for new state, by parameter number: those that
// may be a batch. Either only contractions lead from it to the output, as to a
// reconstruction. Or the output follows elementwise and a result needs it, as
// the loss needs a residual prediction. That is asked where nothing is donated:
// a donated one may be the state that a recurrent step carries.
std::vector<int> ListBatches(const Module& module,
                             const std::vector<std::optional<int>>& state) {
  const std::set<int64_t> sizes = ListBatchSizes(module, state);
  const std::vector<char> is_above = MarkAboveResults(module, state);
  std::vector<int> batches;
  std::vector<int> found;
  StateSearch search(module);
  for (size_t i = 0; i < state.size(); ++i) {
    const int number = static_cast<int>(i);
    const ir::Shape& shape = module.at(module.parameters[i]).shape;
    if (!state[i].has_value() || !MayBeBatch(shape, sizes)) continue;
    if (!search.Claim(number).has_value()) {
      found.push_back(number);
    } else if (module.aliases.empty() && is_above[module.outputs[*state[i]]]) {
      batches.push_back(number);
    }
  }
  if (search.is_cut_short() || found.size() > kMaxCounted) return {};
  std::vector<uint64_t> reached_by(module.size());
  for (size_t first = 0; first < found.size(); first += 64) {
    const size_t count = std::min<size_t>(64, found.size() - first);
    std::fill(reached_by.begin(), reached_by.end(), 0);
    for (size_t i = 0; i < count; ++i) {
      reached_by[module.parameters[found[first + i]]] |= uint64_t{1} << i;
    }
    for (const ValueId id : module.ids()) {
      if (ir::IsContraction(module, id)) continue;
      for (const ValueId operand : module.at(id).operands) {
        reached_by[id] |= reached_by[operand];
      }
    }
    for (size_t i = 0; i < count; ++i) {
      const int number = found[first + i];
      const uint64_t reached = reached_by[module.outputs[*state[number]]];
      if ((reached >> i & 1) == 0) batches.push_back(number);
    }
  }
  return batches;
}

// A donated batch is paired with any output of its shape (a reconstruction,
// say), and one that is not donated becomes its prediction elementwise. That is
// no new state where it depends on no gradient.
void DropPredictions(const Module& module,
                     std::vector<std::optional<int>>& state) {
  const std::vector<int> batches = ListBatches(module, state);
  if (batches.empty()) return;
  std::vector<std::optional<int>> kept = state;
  std::vector<std::optional<int>> batch(module.outputs.size());
  for (const int number : batches) {
    kept[number].reset();
    batch[*state[number]] = number;
  }
  LossFinder finder(module);
  const std::vector<int> losses = finder.Find(kept);
  if (finder.is_cut_short()) return;
  const bool trains =
      std::any_of(kept.begin(), kept.end(),
                  [](const auto& output) { return output.has_value(); });
  const bool has_loss =
      std::any_of(losses.begin(), losses.end(),
                  [&](int output) { return !batch[output].has_value(); });
  if (trains && !has_loss) return;
  for (const int output : losses) {
    if (batch[output].has_value()) state[*batch[output]].reset();
  }
}

// Where nothing is donated: in inference a batch becomes elementwise what a
// residual stream makes of it. That is no state where it depends on no gradient
// and no number is a loss. An update without a contraction stays one. That of a
// step of one layer looks like a stream: such a step returns its loss, too.
void DropStreams(const Module& module, std::vector<std::optional<int>>& state) {
  const std::vector<char> contracted = ListContracted(module);
  std::vector<int> found;  // outputs
  for (size_t i = 0; i < state.size(); ++i) {
    if (!state[i].has_value()) continue;
    if (contracted[*state[i]]) found.push_back(*state[i]);
  }
  if (found.empty()) return;
  LossFinder finder(module);
  const std::vector<int> losses = finder.Find({});
  if (finder.is_cut_short()) return;
  const bool has_number =
      std::any_of(losses.begin(), losses.end(), [&](int output) {
        return module.at(module.outputs[output]).shape.is_scalar();
      });
  const bool depends = std::any_of(found.begin(), found.end(), [&](int output) {
    return std::find(losses.begin(), losses.end(), output) == losses.end();
  });
  if (!has_number && !depends) state.assign(state.size(), std::nullopt);
}

}  // namespace

std::vector<std::optional<int>> MatchState(const Module& module,
                                           bool* cut_short) {
  std::vector<std::optional<int>> state(module.parameters.size());
  if (!module.aliases.empty()) {
    for (const ir::Alias& alias : module.aliases) {
      state[alias.parameter] = alias.output;
    }
    DropPredictions(module, state);
    MatchKept(module, state, cut_short);
    return state;
  }
  StateSearch search(module);
  for (size_t number = 0; number < state.size(); ++number) {
    state[number] = search.Claim(static_cast<int>(number));
  }
  if (cut_short != nullptr) *cut_short = search.is_cut_short();
  DropStreams(module, state);
  DropPredictions(module, state);
  return state;
}

std::vector<int> FindLosses(const Module& module,
                            const std::vector<std::optional<int>>& state,
                            bool* cut_short) {
  LossFinder finder(module);
  std::vector<int> losses = finder.Find(state);
  if (cut_short != nullptr) *cut_short = finder.is_cut_short();
  return losses;
}

}  // namespace meshwright::segmenter
