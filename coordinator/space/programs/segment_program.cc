#include "coordinator/space/programs/segment_program.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include "coordinator/ir/write.h"
#include "coordinator/segmenter/segment_view.h"
#include "coordinator/space/programs/inputs.h"
#include "coordinator/space/rematerialization/forward_backward_barrier.h"
#include "coordinator/space/rematerialization/groups.h"

namespace meshwright::space {
namespace {

using segmenter::SegmentGraph;
using segmenter::SegmentPlan;
using segmenter::SegmentValue;

// Of the numbers that stand for a table or for what another pass computed: none
// is near zero or below.
constexpr double kTableScale = 0.5;

// Moves elements or repeats them: no compiler takes it out of a loop by itself.
bool MovesOnly(ir::Opcode opcode) {
  return ir::IsLayout(opcode) || opcode == ir::Opcode::kBroadcast ||
         opcode == ir::Opcode::kConstant || opcode == ir::Opcode::kIota ||
         opcode == ir::Opcode::kSlice;
}

// Writes the graph of one segment, kept loops as loops.
class SegmentWriter : segmenter::SegmentView {
 public:
  SegmentWriter(const segmenter::Analysis& analysis, const SegmentGraph& graph,
                const SegmentAnnotation& annotation,
                const std::vector<v1::InputSpec>& inputs,
                const KeyContext& context, const ProgramExtent& extent)
      : SegmentView(analysis, graph),
        module_(analysis.module),
        annotation_(annotation),
        inputs_(inputs),
        mesh_(context.mesh),
        keeps_barriers_(context.keeps_barriers),
        extent_(extent),
        writer_("segment", analysis.module.computations),
        ids_(graph.values.size()),
        parameter_number_(graph.values.size()),
        barrier_(FindForwardBackwardBarrier(analysis, graph)) {
    if (extent.recompute && extent.side != LoopSide::kOutside) {
      rematerialization_ = FindRematerializationInRole(
          analysis, graph, {.hands_on = extent.hands_on});
      recomputed_.resize(rematerialization_.recomputed.size());
    }
    FindNeeded();
    if (module_.loops.empty()) return;
    FindConstantInLoop();
    for (size_t i = 0; i < graph.values.size(); ++i) {
      index_[Origin(static_cast<int>(i))] = static_cast<int>(i);
    }
  }

  v1::Program Write() {
    for (int i = 0; i < graph_.input_count; ++i) {
      if (IsRead(i)) WriteInput(i);
    }
    if (barrier_.empty()) {
      WriteScope(std::nullopt);
    } else {
      WriteBothPasses();
    }
    std::vector<int64_t> outputs;
    std::map<int, int> output_number;
    for (int value : Outputs()) {
      output_number[value] = static_cast<int>(outputs.size());
      outputs.push_back(
          As(value, std::nullopt,
             annotation_.GetLeaving(value, At(value).shape, mesh_)));
    }
    for (const GroupLink& link : HandedOn()) {
      outputs.push_back(*recomputed_[link.exit]);
    }
    program_.set_hlo_module(writer_.Finish(outputs, ListAliases(output_number))
                                .SerializeAsString());
    program_.set_num_partitions(static_cast<int>(CountDevices(mesh_)));
    return std::move(program_);
  }

 private:
  // The innermost loop that is written as one; none: the entry.
  using Scope = std::optional<ir::LoopId>;

  Sharding Own(int i) const {
    return annotation_.GetSharding(i, At(i).shape, mesh_);
  }

  // The innermost loop around a value that is written as a loop.
  Scope FindScope(int i) const { return Kept(At(i).loop); }
  Scope Kept(Scope loop) const {
    while (loop.has_value() && !analysis_.plan.kept_loops[*loop]) {
      loop = module_.loops[*loop].parent;
    }
    return loop;
  }
  bool IsKeptBoundary(int i) const {
    const std::optional<ir::LoopBoundary>& boundary = At(i).boundary;
    return !IsInput(i) && boundary.has_value() &&
           analysis_.plan.kept_loops[boundary->loop];
  }

  // ---- what the program is made of ----

  bool IsInside(int i) const {
    return segmenter::CountTripsAround(analysis_, Origin(i)) > 1;
  }
  // All, or what the outputs wanted are made of.
  void FindNeeded() {
    if (extent_.part.empty() || !module_.loops.empty()) return;
    needed_.assign(graph_.values.size(), false);
    for (const int i : extent_.part.leaving) needed_[i] = true;
    for (int i = static_cast<int>(needed_.size()) - 1; i >= 0; --i) {
      const bool made = IsOfThePart(i) || (!rematerialization_.empty() &&
                                           rematerialization_.recomputed[i]);
      if (!needed_[i] || !made) continue;
      for (const int operand : Operands(i)) {
        needed_[operand] = true;
      }
    }
  }
  bool IsNeeded(int i) const { return needed_.empty() || needed_[i]; }

  bool IsOfThePart(int i) const {
    const std::vector<char>& computed = extent_.part.computed;
    return computed.empty() || computed[i] || IsInput(i) || BelongsToNobody(i);
  }

  bool BelongsToNobody(int i) const {
    return analysis_.plan.owner[Origin(i)].IsEverywhere();
  }
  // Inside of loops: what is equal on every trip.
  void FindConstantInLoop() {
    if (extent_.side != LoopSide::kInside) return;
    constant_in_loop_.assign(count_, false);
    for (int i = 0; i < count_; ++i) {
      const auto& operands = Operands(i);
      constant_in_loop_[i] =
          IsInput(i) ||
          (BelongsToNobody(i) && At(i).opcode != ir::Opcode::kCarry &&
           std::all_of(operands.begin(), operands.end(), [&](int operand) {
             return constant_in_loop_[operand];
           }));
    }
  }
  // Tables that a compiler computes once for all trips. Out of a loop that is
  // written as one it takes them itself.
  bool IsHoisted(int i) const {
    if (constant_in_loop_.empty() || !constant_in_loop_[i] ||
        FindScope(i).has_value()) {
      return false;
    }
    const ir::Shape& shape = At(i).shape;
    return !IsInput(i) && !shape.is_scalar() && !MovesOnly(At(i).opcode) &&
           ir::IsFloating(shape.element_type);
  }

  bool IsLeftOut(int i) const {
    if (!IsNeeded(i) || !IsOfThePart(i)) return true;
    if (extent_.side == LoopSide::kBoth || IsInput(i)) return false;
    if (extent_.side == LoopSide::kOutside) return IsInside(i);
    return IsHoisted(i) || (!IsInside(i) && !BelongsToNobody(i));
  }
  // A value of the program that what is left out computes.
  bool Enters(int i) const {
    const SegmentValue& it = graph_.values[i];
    if (IsInput(i) || IsLeftOut(i)) return false;
    if (extent_.side == LoopSide::kOutside) {
      return !it.operands.empty() && IsLeftOut(it.operands[0]);
    }
    return extent_.side == LoopSide::kInside && IsOuterCarry(i);
  }
  bool IsRead(int value) const {
    const auto& users = Users(value);
    if (!IsNeeded(value)) return false;
    return (extent_.side == LoopSide::kBoth && extent_.part.computed.empty()) ||
           std::any_of(users.begin(), users.end(), [&](int user) {
             const bool reads =
                 !IsLeftOut(user) && !Enters(user) &&
                 !rematerialization_.ReadsRecomputed(user, value);
             return reads ||
                    rematerialization_.FindRecomputationReads(user, value);
           });
  }
  // Of the outermost loop that is looked through.
  bool IsOuterCarry(int i) const {
    const ir::Instruction& it = At(i);
    return it.opcode == ir::Opcode::kCarry && !IsKeptBoundary(i) &&
           segmenter::CountTripsAround(analysis_, it.operands[0]) == 1;
  }

  std::vector<GroupLink> HandedOn() const {
    if (!extent_.hands_on || rematerialization_.empty()) return {};
    return FindLinks(analysis_, graph_.segment);
  }

  // Those wanted, or those of the segment and what is left out would read.
  std::vector<int> Outputs() const {
    if (!extent_.part.empty()) {
      std::vector<int> outputs;
      for (const int i : extent_.part.leaving) {
        if (!IsLeftOut(i) && !Enters(i) && ids_[i].has_value()) {
          outputs.push_back(i);
        }
      }
      return outputs;
    }
    if (extent_.side == LoopSide::kBoth) return graph_.outputs;
    std::vector<char> is_output(count_, 0);
    for (const int output : graph_.outputs) is_output[output] = 1;
    std::vector<int> outputs;
    for (int i = graph_.input_count; i < count_; ++i) {
      if (IsLeftOut(i) || !ids_[i].has_value() || Enters(i)) continue;
      if (extent_.side == LoopSide::kInside && !IsInside(i)) continue;
      const auto& users = Users(i);
      const bool is_read =
          !BelongsToNobody(i) &&
          std::any_of(users.begin(), users.end(), [&](int user) {
            return IsLeftOut(user) || Enters(user);
          });
      if (is_output[i] || is_read) outputs.push_back(i);
    }
    return outputs;
  }

  // Values that enter, and those that take their place: state, and the values
  // that a trip hands to the next one.
  std::vector<segmenter::StateUpdate> Updates() const {
    std::vector<segmenter::StateUpdate> updates;
    for (const segmenter::StateUpdate& update : graph_.state) {
      if (analysis_.passes.overwritten[Origin(update.argument)] != 0) {
        updates.push_back(update);
      }
    }
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      const int carry = static_cast<int>(i);
      if (!Enters(carry) || !IsOuterCarry(carry)) continue;
      const ir::Instruction& it = At(carry);
      const auto result = index_.find(
          *module_.loops[it.boundary->loop].results[it.boundary->element]);
      if (result == index_.end()) continue;
      updates.push_back({carry, Operands(result->second)[0]});
    }
    return updates;
  }

  // A value that becomes the state of several arguments takes the place of the
  // first: an output has one alias at most, and so has a parameter.
  std::vector<ir::Alias> ListAliases(
      const std::map<int, int>& output_number) const {
    std::vector<ir::Alias> aliases;
    std::set<int> outputs;
    std::set<int> parameters;
    for (const auto& [entered, left] : Updates()) {
      const auto found = output_number.find(left);
      const std::optional<int> parameter = parameter_number_[entered];
      if (found == output_number.end() || !parameter.has_value() ||
          outputs.contains(found->second) || parameters.contains(*parameter)) {
        continue;
      }
      outputs.insert(found->second);
      parameters.insert(*parameter);
      aliases.push_back({found->second, *parameter});
    }
    return aliases;
  }

  void WriteInput(int i) {
    const ir::Instruction& it = At(i);
    parameter_number_[i] = program_.inputs_size();
    ids_[i] = writer_.AddParameter(it.shape, ToProto(Own(i), it.shape, mesh_));
    // A loop may carry an argument.
    const ir::Instruction& first =
        it.opcode == ir::Opcode::kCarry ? module_.at(it.operands[0]) : it;
    v1::InputSpec spec = first.opcode == ir::Opcode::kParameter
                             ? inputs_[first.attributes().parameter_number()]
                             : MakeBoundaryInput(it.shape, 0);
    const bool made_up =
        IsHoisted(i) ||
        (!IsOfThePart(i) && ir::IsFloating(it.shape.element_type));
    if (made_up) {  // whatever is done with it, no NaN
      spec.set_kind(v1::InputSpec::POSITIVE);
      spec.set_scale(kTableScale);
    }
    // The place in the program, not in the step: equal segments are equal
    // programs.
    spec.set_seed(static_cast<uint64_t>(i) + 1);
    *program_.add_inputs() = std::move(spec);
  }

  void WriteScope(Scope scope) {
    for (int i = graph_.input_count; i < count_; ++i) {
      if (FindScope(i) == scope) WriteOne(i, scope);
    }
  }

  void WriteOne(int i, Scope scope) {
    if (IsLeftOut(i)) {
      const bool enters =
          extent_.side == LoopSide::kInside || !extent_.part.computed.empty();
      if (enters && IsRead(i)) WriteInput(i);
    } else if (Enters(i)) {
      WriteInput(i);
    } else if (!IsKeptBoundary(i)) {
      ids_[i] = WriteValue(i, scope, /*again=*/false);
    } else if (At(i).opcode == ir::Opcode::kLoopResult &&
               !ids_[i].has_value()) {
      WriteLoop(At(i).boundary->loop, scope);
    }
  }

  // Values that need no gradient stand first, then the rematerialization. There
  // is no loop.
  void WriteBothPasses() {
    for (int i = graph_.input_count; i < count_; ++i) {
      if (!barrier_.behind[i]) WriteOne(i, std::nullopt);
    }
    for (const segmenter::BoundaryPair& exit : barrier_.exits) LetWait(exit);
    if (!rematerialization_.empty()) {
      WriteHandedGradients();
      WriteEntrances();
      for (int i = graph_.input_count; i < count_; ++i) {
        if (!rematerialization_.recomputed[i] || !IsNeeded(i)) continue;
        recomputed_[i] = WriteValue(i, std::nullopt, true);
      }
    }
    for (int i = graph_.input_count; i < count_; ++i) {
      if (barrier_.behind[i] && !ids_[i].has_value()) WriteOne(i, std::nullopt);
    }
  }

  // From the part of the backward pass before.
  bool IsHandedGradient(int i) const {
    return barrier_.behind[i] && IsLeftOut(i) && IsRead(i);
  }
  void WriteHandedGradients() {
    for (int i = graph_.input_count; i < count_; ++i) {
      if (IsHandedGradient(i)) WriteOne(i, std::nullopt);
    }
  }

  // The gradient, if any, is there after its activation, if that is computed.
  void LetWait(const segmenter::BoundaryPair& exit) {
    const int activation = exit.activation;
    std::optional<int64_t>& gradient = ids_[exit.gradient];
    if (!gradient.has_value() || !ids_[activation].has_value() ||
        IsInput(activation) || IsLeftOut(activation) ||
        barrier_.behind[activation]) {
      return;
    }
    const int64_t left =
        As(activation, std::nullopt,
           annotation_.GetLeaving(activation, At(activation).shape, mesh_));
    gradient = keeps_barriers_ ? writer_.AddBarrier({*gradient, left})[0]
                               : writer_.AddDependence(*gradient, {left});
  }

  void WriteEntrances() {
    std::vector<int> entrances;
    std::vector<int64_t> values;
    for (size_t i = 0; i < ids_.size(); ++i) {
      if (!rematerialization_.entrance[i] || !ids_[i].has_value()) continue;
      entrances.push_back(static_cast<int>(i));
      values.push_back(*ids_[i]);
    }
    std::vector<int64_t> gradients;
    for (int gradient : rematerialization_.gradients) {
      if (ids_[gradient].has_value()) gradients.push_back(*ids_[gradient]);
    }
    for (int i = graph_.input_count; i < count_; ++i) {
      if (IsHandedGradient(i)) gradients.push_back(*ids_[i]);
    }
    if (gradients.empty()) return;  // the forward pass alone
    values.insert(values.end(), gradients.begin(), gradients.end());
    const std::vector<int64_t> behind = writer_.AddBarrier(values);
    for (size_t k = 0; k < entrances.size(); ++k) {
      recomputed_[entrances[k]] = behind[k];
      if (keeps_barriers_ || IsArgument(entrances[k])) {
        continue;
      }
      recomputed_[entrances[k]] = writer_.AddDependence(behind[k], gradients);
    }
  }

  // `again`: as the rematerialization computes it.
  int64_t WriteValue(int i, Scope scope, bool again) {
    std::vector<int64_t> operands;
    for (size_t k = 0; k < Operands(i).size(); ++k) {
      const int operand = Operands(i)[k];
      const bool redirected = again ? recomputed_[operand].has_value()
                                    : rematerialization_.Redirects(i, operand);
      operands.push_back(
          As(operand, *(redirected ? recomputed_ : ids_)[operand], scope,
             annotation_.GetDemanded(i, static_cast<int>(k), operand,
                                     At(operand).shape, mesh_)));
    }
    return writer_.Add(At(i), operands, ToProto(Own(i), At(i).shape, mesh_));
  }

  // The value in the wanted sharding; copies stay in the loop they are made in.
  // `id`: of the value itself, or of the rematerialization's.
  int64_t As(int i, int64_t id, Scope scope, const Sharding& wanted) {
    if (wanted == Own(i)) return id;
    const auto [copy, added] = copies_.try_emplace({scope, id, wanted}, 0);
    if (added) {
      copy->second = writer_.AddOp("copy", At(i).shape, {id},
                                   ToProto(wanted, At(i).shape, mesh_));
    }
    return copy->second;
  }
  int64_t As(int i, Scope scope, const Sharding& wanted) {
    return As(i, *ids_[i], scope, wanted);
  }

  void WriteLoop(ir::LoopId id, Scope outside) {
    const ir::Loop& loop = module_.loops[id];
    ir::LoopEnd end;
    end.elements.resize(loop.carries.size());
    std::vector<int> carries;
    std::vector<ir::LoopElement> elements;
    std::vector<int64_t> initial;
    for (size_t k = 0; k < loop.carries.size(); ++k) {
      if (!loop.carries[k].has_value()) continue;
      const auto found = index_.find(*loop.carries[k]);
      if (found == index_.end()) continue;
      const int carry = found->second;
      end.elements[k] = static_cast<int>(carries.size());
      if (static_cast<int>(k) == loop.counter) end.counter = *end.elements[k];
      carries.push_back(carry);
      elements.push_back(
          {At(carry).shape, ToProto(Own(carry), At(carry).shape, mesh_)});
      initial.push_back(As(Operands(carry)[0], outside, Own(carry)));
    }
    if (loop.counter.has_value()) {
      const bool is_cut =
          !outside.has_value() && loop.trips == extent_.long_trips;
      const int64_t trips =
          is_cut ? std::min(loop.trips, extent_.max_trips) : loop.trips;
      end.limit = loop.start + loop.step * trips;
      end.upwards = loop.step > 0;
    } else {
      end.condition = loop.condition;
    }
    const std::vector<int64_t> entered = writer_.BeginLoop(elements);
    for (size_t k = 0; k < carries.size(); ++k) ids_[carries[k]] = entered[k];
    WriteScope(id);
    std::vector<int64_t> next;
    std::vector<int> results;
    for (int carry : carries) {
      results.push_back(index_.at(*loop.results[At(carry).boundary->element]));
      next.push_back(As(Operands(results.back())[0], id, Own(carry)));
    }
    const std::vector<int64_t> left = writer_.EndLoop(initial, next, end);
    for (size_t k = 0; k < carries.size(); ++k) {
      const int result = results[k];
      ids_[result] =
          Own(result) == Own(carries[k])
              ? left[k]
              : writer_.AddOp("copy", At(result).shape, {left[k]},
                              ToProto(Own(result), At(result).shape, mesh_));
    }
  }

  const ir::Module& module_;
  const SegmentAnnotation& annotation_;
  const std::vector<v1::InputSpec>& inputs_;
  const Mesh& mesh_;
  const bool keeps_barriers_;
  const ProgramExtent& extent_;
  ir::ModuleWriter writer_;
  // By value, if it is written; parameter_number_, if it is an input.
  std::vector<std::optional<int64_t>> ids_;
  std::vector<std::optional<int>> parameter_number_;
  std::vector<char> needed_;                    // empty: everything is
  std::vector<char> constant_in_loop_;          // empty: no trip is written
  std::unordered_map<ir::ValueId, int> index_;  // where there are loops
  std::map<std::tuple<Scope, int64_t, Sharding>, int64_t> copies_;
  ForwardBackwardBarrier barrier_;
  Rematerialization rematerialization_;
  // By value the rematerialization's ids.
  std::vector<std::optional<int64_t>> recomputed_;
  v1::Program program_;
};

}  // namespace

v1::Program MakeSegmentProgram(const segmenter::Analysis& analysis,
                               const SegmentGraph& graph,
                               const SegmentAnnotation& annotation,
                               const std::vector<v1::InputSpec>& inputs,
                               const KeyContext& context,
                               const ProgramExtent& extent) {
  v1::Program program =
      SegmentWriter(analysis, graph, annotation, inputs, context, extent)
          .Write();
  program.set_key(ComputeProgramKey(program, context));
  return program;
}

}  // namespace meshwright::space
