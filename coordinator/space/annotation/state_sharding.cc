#include "coordinator/space/annotation/state_sharding.h"

#include <algorithm>
#include <set>

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
  }

  AxisAnnotation Run(std::vector<int>* kept_whole) {
    for (int i = 0; i < graph_.input_count; ++i) {
      if (!IsParameter(i) || !respecifier_.IsOpen(i) || !OnDataAxis(i))
        continue;
      const int updated = FindUpdated(i);
      if (updated < 0 && !shard_parameters_) continue;
      const int dim = ChooseDim(i);
      if (dim < 0) {
        if (kept_whole != nullptr) kept_whole->push_back(i);
        continue;
      }
      if (shard_parameters_) ShardParameter(i, dim);
      if (updated >= 0) Absorb(updated, dim);
    }
    FollowForwards();
    ShardRemainingState();
    FollowForwards();
    return respecifier_.Finish();
  }

 private:
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
    if (strategies_.empty()) {
      return std::any_of(boundary_.begin(), boundary_.end(), [&](int value) {
        return respecifier_.Before(value) >= 0;
      });
    }
    const int block = FirstReader(analysis_, graph_, parameter);
    return block >= 0 &&
           strategies_[block]->axes[axis_].kind == StrategyKind::kRows;
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

  bool IsSliced(int value, int dim) const {
    for (int user : Users(value)) {
      const Opcode opcode = At(user).opcode;
      if (ir::IsLoopBoundary(opcode) && IsSliced(user, dim)) return true;
      if (opcode != Opcode::kDynamicSlice) continue;
      if (Operands(user)[0] == value &&
          respecifier_.PushThrough(user, 0, dim) < 0) {
        return true;
      }
    }
    return false;
  }

  // The parameter, and what is only a cheaper form of it to gather: its layer
  // in a loop, and the stack that a loop makes of such forms.
  void ShardParameter(int value, int dim) {
    respecifier_.Change(value, dim);
    for (int user : Users(value)) {
      if (!Passes(user, value, dim)) continue;
      if (At(user).opcode == Opcode::kDynamicUpdateSlice) {
        ShardStack(*accumulators_.Find(user), dim);
      } else {
        ShardParameter(user, respecifier_.PushThrough(user, 0, dim));
      }
    }
  }

  bool Passes(int user, int value, int dim) const {
    if (!respecifier_.IsOpen(user) || IsUpdated(user)) return false;
    const int operand = OperandNumber(graph_, user, value);
    if (respecifier_.PushThrough(user, operand, dim) < 0) return false;
    switch (At(user).opcode) {
      case Opcode::kConvert:
        return At(user).shape.byte_size() <= At(value).shape.byte_size();
      case Opcode::kDynamicSlice:
        return operand == 0;
      case Opcode::kCarry:
        // What every trip wants whole is gathered in front of the loop.
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
    if (stack == nullptr || !IsOpenAt(*stack, dim)) return false;
    return std::all_of(
        stack->between.begin(), stack->between.end(), [&](int value) {
          return At(value).opcode == Opcode::kDynamicUpdateSlice &&
                 respecifier_.PullThrough(value, 1, dim) >= 0;
        });
  }

  bool IsOpenAt(const LoopAccumulator& it, int dim) const {
    std::vector<int> values = it.between;
    values.insert(values.end(), {it.carry, it.result});
    return std::all_of(values.begin(), values.end(), [&](int value) {
      return respecifier_.IsOpen(value) && respecifier_.Fits(value, dim);
    });
  }

  void ShardStack(const LoopAccumulator& it, int dim) {
    respecifier_.Change(it.carry, dim);
    for (int value : it.between) respecifier_.Change(value, dim);
    Absorb(it.entering, dim);
    ShardParameter(it.result, dim);
  }

  // A carry that enters every trip as it entered the first one.
  bool PassesThrough(int carry) const {
    const ir::Instruction& it = At(carry);
    const ir::Loop& loop = analysis_.module.loops[it.boundary];
    const ir::ValueId result = loop.results[it.element];
    return result >= 0 &&
           analysis_.module.at(result).operands[0] == Origin(carry);
  }

  bool IsUpdated(int value) const {
    return std::any_of(
        graph_.state.begin(), graph_.state.end(),
        [&](const auto& state) { return state.updated == value; });
  }
  int FindUpdated(int argument) const {
    for (const auto& [before, after] : graph_.state) {
      if (before == argument) return after;
    }
    return -1;
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
    if (it == nullptr || !IsOpenAt(*it, dim)) return false;
    int before = it->carry;
    return std::all_of(it->between.begin(), it->between.end(), [&](int value) {
      const int operand = OperandNumber(graph_, value, before);
      before = value;
      return CanAbsorb(value, dim) && operand >= 0 &&
             respecifier_.PullThrough(value, operand, dim) == dim;
    });
  }

  // Upwards from what overwrites a state, to the gradient and to other state.
  void Absorb(int value, int dim) {
    if (!CanAbsorb(value, dim)) return;
    if (ir::IsLoopBoundary(At(value).opcode)) {
      const LoopAccumulator& it = *accumulators_.Find(value);
      respecifier_.Change(it.carry, dim);
      respecifier_.Change(it.result, dim);
      Absorb(it.next(), dim);
      Absorb(it.entering, dim);
      return;
    }
    respecifier_.Change(value, dim);
    if (IsInput(value)) return;
    const auto& operands = Operands(value);
    for (size_t k = 0; k < operands.size(); ++k) {
      const int pulled =
          respecifier_.PullThrough(value, static_cast<int>(k), dim);
      if (pulled >= 0) Absorb(operands[k], pulled);
    }
  }

  // What reads the shards without being on the way to a state: checks and norms
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
        respecifier_.Change(i, pushed);
        break;
      }
    }
  }

  // Optimizer state of another shape than its parameter, or that follows it.
  void ShardRemainingState() {
    for (const auto& [argument, updated] : graph_.state) {
      if (respecifier_.Changed(argument)) {
        Absorb(updated, respecifier_.Now(argument));
        continue;
      }
      if (!HasRole(argument, ArgumentRole::kOptimizer) ||
          At(argument).shape.is_scalar() || !respecifier_.IsOpen(argument) ||
          !ReadsShards(updated)) {
        continue;
      }
      const int dim = ChooseDim(argument);
      if (dim < 0) continue;
      respecifier_.Change(argument, dim);
      Absorb(updated, dim);
    }
  }

  // Whether the update of this state computes with something that is sharded.
  bool ReadsShards(int updated) const {
    std::vector<int> stack = {updated};
    std::set<int> seen;
    while (!stack.empty()) {
      const int value = stack.back();
      stack.pop_back();
      if (respecifier_.Changed(value)) return true;
      if (IsInput(value) || IsOwnForward(value) || IsContraction(value)) {
        continue;
      }
      for (int operand : Operands(value)) {
        if (seen.insert(operand).second) stack.push_back(operand);
      }
    }
    return false;
  }

  const std::vector<const Strategy*>& strategies_;
  const bool shard_parameters_;
  const int axis_;
  Respecifier respecifier_;
  const LoopAccumulators accumulators_;
  std::set<int> boundary_;  // values that cross
};

}  // namespace

int FirstReader(const Analysis& analysis, const SegmentGraph& graph,
                int value) {
  const segmenter::Segment& segment = analysis.plan.segments[graph.segment];
  const int count = segment.last_block - segment.first_block;
  int block = -1;
  std::vector<int> stack = {value};
  std::set<int> seen;
  while (!stack.empty()) {
    const int at = stack.back();
    stack.pop_back();
    for (int user : graph.values[at].users) {
      const ir::ValueId origin = graph.values[user].origin;
      if (!analysis.passes.forward[origin]) continue;
      const int owner =
          analysis.blocks.owner_block[origin] - segment.first_block;
      if (owner >= 0 && owner < count) {
        block = block < 0 ? owner : std::min(block, owner);
      } else if (seen.insert(user).second) {
        stack.push_back(user);
      }
    }
  }
  return block;
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
