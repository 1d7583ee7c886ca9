#include "coordinator/space/annotation/state_sharding.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "coordinator/segmenter/segment_view.h"
#include "coordinator/space/annotation/loop_accumulators.h"
#include "coordinator/space/annotation/respecify.h"

namespace meshwright::space {
namespace {

using ir::Opcode;
using segmenter::Analysis;
using segmenter::ArgumentRole;
using segmenter::SegmentGraph;
using segmenter::Strategy;
using segmenter::StrategyKind;

class AxisStateSharder : segmenter::SegmentView {
 public:
  AxisStateSharder(const Analysis& analysis, const SegmentGraph& graph,
                   const std::vector<const Strategy*>& strategies,
                   const SegmentAnnotation& annotation, bool shard_parameters,
                   int axis, const Mesh& mesh)
      : SegmentView(analysis, graph),
        strategies_(strategies),
        shard_parameters_(shard_parameters),
        axis_(axis),
        respecifier_(analysis, graph, annotation, axis, mesh),
        accumulators_(analysis, graph) {
    for (const segmenter::BoundaryPair& pair : graph.boundary_pairs()) {
      boundary_.insert({pair.activation, pair.gradient});
    }
    on_data_axis_ =
        std::any_of(boundary_.begin(), boundary_.end(),
                    [&](int value) { return respecifier_.Before(value) >= 0; });
    if (!strategies.empty()) first_reader_ = FindFirstReaders(analysis, graph);
    updated_.resize(count_);
    is_updated_.assign(count_, 0);
    for (const auto& [argument, updated] : graph.state) {
      if (!updated_[argument].has_value()) updated_[argument] = updated;
      is_updated_[updated] = 1;
    }
  }

  AxisAnnotation Run(std::vector<int>* kept_whole) {
    for (int i = 0; i < graph_.input_count; ++i) {
      if (!IsParameter(i) || !respecifier_.IsOpen(i) || !OnDataAxis(i))
        continue;
      const std::optional<int> updated = updated_[i];
      if (!updated.has_value() && !shard_parameters_) continue;
      const int dim = ChooseDim(i);
      if (dim < 0) {
        if (kept_whole != nullptr) kept_whole->push_back(i);
        continue;
      }
      if (shard_parameters_) ShardParameter(i, dim);
      if (updated.has_value()) Absorb(*updated, dim);
    }
    FollowForwards();
    ShardRemainingState();
    FollowForwards();
    return respecifier_.Finish();
  }

 private:
  struct ValueDim {
    int value = 0;
    int dim = 0;
    auto operator<=>(const ValueDim&) const = default;
  };

  bool IsOwnForward(int i) const { return IsForward(i) && !IsRecomputable(i); }
  bool HasRole(int i, ArgumentRole role) const {
    return IsInput(i) && IsArgument(i) &&
           analysis_.passes.roles[At(i).attributes().parameter_number()] ==
               role;
  }
  bool IsParameter(int i) const {
    return HasRole(i, ArgumentRole::kParameter) && !At(i).shape.is_scalar();
  }

  // Whether the block that reads the parameter first computes on its part of
  // the batch.
  bool OnDataAxis(int parameter) const {
    if (strategies_.empty()) return on_data_axis_;
    const std::optional<int>& block = first_reader_[parameter];
    return block.has_value() &&
           strategies_[*block]->axes[axis_].kind == StrategyKind::kRows;
  }

  // The outermost dimension that divides and is split by no other axis; one
  // that every reader in a loop keeps comes before the one it slices.
  int ChooseDim(int value) const {
    int sliced = kWhole;
    for (int dim = 0; dim < At(value).shape.rank(); ++dim) {
      if (!respecifier_.Fits(value, dim) ||
          respecifier_.IsSplitElsewhere(value, dim)) {
        continue;
      }
      if (!IsSliced(value, dim)) return dim;
      if (sliced < 0) sliced = dim;
    }
    return sliced;
  }

  // Loop boundaries have one operand: what follows from a value is a tree, and
  // the answers for one dimension are remembered.
  bool IsSliced(int value, int dim) const {
    struct Visit {
      int value = 0;
      size_t next_user = 0;
    };
    std::vector<Visit> stack = {{value, 0}};
    while (!stack.empty()) {
      auto& [at, next] = stack.back();
      char& sliced = sliced_.try_emplace({at, dim}, kUnknown).first->second;
      if (sliced == kUnknown && next < Users(at).size()) {
        const int user = Users(at)[next++];
        const Opcode opcode = At(user).opcode;
        if (ir::IsLoopBoundary(opcode)) {
          stack.push_back({user, 0});
        } else if (opcode == Opcode::kDynamicSlice && Operands(user)[0] == at &&
                   respecifier_.PushThrough(user, 0, dim) < 0) {
          sliced = kSliced;
        }
        continue;
      }
      if (sliced == kUnknown) sliced = kNotSliced;
      const bool found = sliced == kSliced;
      stack.pop_back();
      if (found && !stack.empty()) sliced_[{stack.back().value, dim}] = kSliced;
    }
    return sliced_.at({value, dim}) == kSliced;
  }

  // The parameter, and what is only a cheaper form of it to gather: its layer
  // in a loop, and the stack that a loop makes of such forms.
  void ShardParameter(int parameter, int parameter_dim) {
    struct Form {
      int user;
      int value;
      int dim;
    };
    std::vector<Form> stack;  // to look at, the first on top
    const auto change = [&](int value, int dim) {
      Change(value, dim);
      const auto& users = Users(value);
      for (auto user = users.rbegin(); user != users.rend(); ++user) {
        stack.push_back({*user, value, dim});
      }
    };
    change(parameter, parameter_dim);
    while (!stack.empty()) {
      const auto [user, value, dim] = stack.back();
      stack.pop_back();
      if (!Passes(user, value, dim)) continue;
      if (At(user).opcode == Opcode::kDynamicUpdateSlice) {
        const LoopAccumulator& it = *accumulators_.Find(user);
        ShardStack(it, dim);
        change(it.result, dim);
      } else {
        change(user, respecifier_.PushThrough(user, 0, dim));
      }
    }
  }

  bool Passes(int user, int value, int dim) const {
    if (!respecifier_.IsOpen(user) || is_updated_[user]) return false;
    const std::optional<int> operand = FindOperand(graph_, user, value);
    if (!operand.has_value() ||
        respecifier_.PushThrough(user, *operand, dim) < 0) {
      return false;
    }
    switch (At(user).opcode) {
      case Opcode::kConvert:
        return At(user).shape.byte_size() <= At(value).shape.byte_size();
      case Opcode::kDynamicSlice:
        return operand == 0;
      case Opcode::kCarry:
        // A value that every trip wants whole is gathered in front of the loop.
        return PassesThrough(user) && !IsSliced(user, dim);
      case Opcode::kLoopResult:
        return At(value).opcode == Opcode::kCarry && PassesThrough(value);
      case Opcode::kReshape:
        return PassesReshape(user, value, dim);
      case Opcode::kDynamicUpdateSlice:
        return operand == 1 && PassesStack(user, dim);
      default:
        return false;
    }
  }

  // A layer without the stack's dimension gathers in the order it lies in
  // memory: with it the compiler turns the stack around. A layer that goes to a
  // stack gets it back.
  bool PassesReshape(int reshape, int value, int dim) const {
    const auto& users = Users(reshape);
    const int pushed = respecifier_.PushThrough(reshape, 0, dim);
    if (!IsInput(value) && At(value).opcode == Opcode::kDynamicSlice) {
      return Users(value).size() == 1;
    }
    return std::all_of(users.begin(), users.end(), [&](int user) {
      return At(user).opcode == Opcode::kDynamicUpdateSlice &&
             Passes(user, reshape, pushed);
    });
  }

  // Only what is written to a stack becomes one.
  bool PassesStack(int update, int dim) const {
    const LoopAccumulator* const stack = accumulators_.Find(update);
    if (stack == nullptr) return false;
    // Asked once for all updates of the stack, until something changes.
    const auto [answer, added] =
        passes_stack_.try_emplace({stack->carry, dim}, Answer{});
    if (!added && answer->second.changes == changes_) {
      return answer->second.yes;
    }
    answer->second.changes = changes_;
    answer->second.yes =
        IsOpenAt(*stack, dim) &&
        std::all_of(stack->between.begin(), stack->between.end(),
                    [&](int value) {
                      return At(value).opcode == Opcode::kDynamicUpdateSlice &&
                             respecifier_.PullThrough(value, 1, dim) >= 0;
                    });
    return answer->second.yes;
  }

  bool IsOpenAt(const LoopAccumulator& it, int dim) const {
    const auto open = [&](int value) {
      return respecifier_.IsOpen(value) && respecifier_.Fits(value, dim);
    };
    return open(it.carry) && open(it.result) &&
           std::all_of(it.between.begin(), it.between.end(), open);
  }

  // Up to its result.
  void ShardStack(const LoopAccumulator& it, int dim) {
    Change(it.carry, dim);
    for (int value : it.between) Change(value, dim);
    Absorb(it.entering, dim);
  }

  // A carry that enters every trip as it entered the first one.
  bool PassesThrough(int carry) const {
    const ir::Instruction& it = At(carry);
    const ir::Loop& loop = analysis_.module.loops[it.boundary->loop];
    const std::optional<ir::ValueId> result =
        loop.results[it.boundary->element];
    return result.has_value() &&
           analysis_.module.at(*result).operands[0] == Origin(carry);
  }

  // Whether the update may compute this value on shards.
  bool CanAbsorb(int value, int dim) const {
    if (!respecifier_.IsOpen(value) || !respecifier_.Fits(value, dim))
      return false;
    if (boundary_.contains(value) || IsOwnForward(value)) return false;
    if (IsInput(value)) return HasRole(value, ArgumentRole::kOptimizer);
    if (IsContraction(value)) return false;
    if (ir::IsLoopBoundary(At(value).opcode))
      return CanAbsorbCarried(value, dim);
    // Where the parts of the batch meet, the sum is whole.
    const auto& operands = Operands(value);
    return std::all_of(operands.begin(), operands.end(), [&](int operand) {
      return respecifier_.Before(operand) < 0;
    });
  }

  // A sum over trips, or a stack that every trip writes its gradient to.
  bool CanAbsorbCarried(int boundary, int dim) const {
    const LoopAccumulator* const it = accumulators_.Find(boundary);
    if (it == nullptr || refused_.contains({it->carry, dim})) return false;
    int before = it->carry;
    const bool can =
        IsOpenAt(*it, dim) &&
        std::all_of(it->between.begin(), it->between.end(), [&](int value) {
          const std::optional<int> operand = FindOperand(graph_, value, before);
          before = value;
          return CanAbsorb(value, dim) && operand.has_value() &&
                 respecifier_.PullThrough(value, *operand, dim) == dim;
        });
    // A closed dimension never opens again.
    if (!can) refused_.insert({it->carry, dim});
    return can;
  }

  // Upwards from what overwrites a state, to the gradient and to other state.
  void Absorb(int updated, int updated_dim) {
    // To look at, the first on top.
    std::vector<ValueDim> stack = {{updated, updated_dim}};
    while (!stack.empty()) {
      const auto [value, dim] = stack.back();
      stack.pop_back();
      if (!CanAbsorb(value, dim)) continue;
      if (ir::IsLoopBoundary(At(value).opcode)) {
        const LoopAccumulator& it = *accumulators_.Find(value);
        Change(it.carry, dim);
        Change(it.result, dim);
        stack.push_back({it.entering, dim});
        stack.push_back({it.next(), dim});
        continue;
      }
      Change(value, dim);
      if (IsInput(value)) continue;
      const auto& operands = Operands(value);
      for (int k = static_cast<int>(operands.size()) - 1; k >= 0; --k) {
        const int pulled = respecifier_.PullThrough(value, k, dim);
        if (pulled >= 0) stack.push_back({operands[k], pulled});
      }
    }
  }

  void Change(int value, int dim) {
    respecifier_.Change(value, dim);
    ++changes_;
    if (!reads_shards_.empty()) SpreadReads(value);
  }

  // Readers of the shards that are not on the way to a state: checks and norms
  // of gradients.
  void FollowForwards() {
    for (int i = graph_.input_count; i < count_; ++i) {
      if (!ir::IsElementwise(At(i).opcode)) continue;
      const auto& operands = Operands(i);
      for (size_t k = 0; k < operands.size(); ++k) {
        if (!respecifier_.Changed(operands[k]) || IsParameter(operands[k]))
          continue;
        const int pushed = respecifier_.PushThrough(
            i, static_cast<int>(k), respecifier_.Now(operands[k]));
        if (pushed < 0 || !CanAbsorb(i, pushed)) continue;
        Change(i, pushed);
        break;
      }
    }
  }

  // Optimizer state of another shape than its parameter, or that follows it.
  void ShardRemainingState() {
    reads_shards_.assign(count_, 0);
    for (int i = 0; i < count_; ++i) {
      if (respecifier_.Changed(i)) SpreadReads(i);
    }
    for (const auto& [argument, updated] : graph_.state) {
      if (respecifier_.Changed(argument)) {
        Absorb(updated, respecifier_.Now(argument));
        continue;
      }
      if (!HasRole(argument, ArgumentRole::kOptimizer) ||
          At(argument).shape.is_scalar() || !respecifier_.IsOpen(argument) ||
          !reads_shards_[updated]) {
        continue;
      }
      const int dim = ChooseDim(argument);
      if (dim < 0) continue;
      Change(argument, dim);
      Absorb(updated, dim);
    }
  }

  // The value is sharded: so is something that the updates behind it read.
  void SpreadReads(int sharded) {
    std::vector<int> stack;
    const auto mark = [&](int value) {
      if (std::exchange(reads_shards_[value], 1) == 0) stack.push_back(value);
    };
    mark(sharded);
    while (!stack.empty()) {
      const int value = stack.back();
      stack.pop_back();
      for (int user : Users(value)) {
        if (!IsOwnForward(user) && !IsContraction(user)) mark(user);
      }
    }
  }

  const std::vector<const Strategy*>& strategies_;
  const bool shard_parameters_;
  const int axis_;
  Respecifier respecifier_;
  const LoopAccumulators accumulators_;
  std::set<int> boundary_;     // values that cross
  bool on_data_axis_ = false;  // one of them is split
  // By value; empty without blocks.
  std::vector<std::optional<int>> first_reader_;
  // By value: what overwrites the argument.
  std::vector<std::optional<int>> updated_;
  std::vector<char> is_updated_;  // by value
  // By value: it computes with something that is sharded. Empty until all
  // parameters are sharded.
  std::vector<char> reads_shards_;

  // Remembered, each for a value or the carry of a stack and a dimension.
  struct Answer {
    int64_t changes = 0;  // when it was found
    bool yes = false;
  };
  enum Sliced : char { kNotSliced, kSliced, kUnknown };
  mutable std::map<ValueDim, char> sliced_;
  mutable std::map<ValueDim, Answer> passes_stack_;
  mutable std::set<ValueDim> refused_;  // by CanAbsorbCarried
  int64_t changes_ = 0;
};

}  // namespace

std::vector<std::optional<int>> FindFirstReaders(const Analysis& analysis,
                                                 const SegmentGraph& graph) {
  const segmenter::Segment& segment = analysis.plan.segments[graph.segment];
  std::vector<std::optional<int>> readers(graph.values.size());
  for (size_t i = graph.values.size(); i-- > 0;) {
    for (int user : graph.values[i].users) {
      const ir::ValueId origin = graph.values[user].origin;
      if (!analysis.passes.forward[origin]) continue;
      const std::optional<int>& owner = analysis.blocks.owner_block[origin];
      const bool inside =
          owner >= segment.first_block && owner < segment.last_block;
      const std::optional<int> block =
          inside ? std::optional(*owner - segment.first_block) : readers[user];
      if (!block.has_value()) continue;
      if (!readers[i].has_value() || block < readers[i]) readers[i] = block;
    }
  }
  return readers;
}

SegmentAnnotation ShardState(const Analysis& analysis,
                             const SegmentGraph& graph,
                             const std::vector<const Strategy*>& strategies,
                             const SegmentAnnotation& plain,
                             bool shard_parameters, const Mesh& mesh,
                             std::vector<int>* kept_whole) {
  SegmentAnnotation sharded = plain;
  for (size_t axis = 0; axis < mesh.size(); ++axis) {
    if (mesh[axis] < 2) continue;
    sharded.axes[axis] =
        AxisStateSharder(analysis, graph, strategies, sharded, shard_parameters,
                         static_cast<int>(axis), mesh)
            .Run(kept_whole);
  }
  return sharded;
}

}  // namespace meshwright::space
