#include "coordinator/export/step_writer.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "coordinator/ir/write.h"

namespace meshwright::exporting {
namespace {

using ir::ValueId;
using segmenter::Analysis;
using segmenter::SegmentIndex;
using space::Sharding;

// Every loop is written as the step has it, its body with the shardings of the
// segments its operations belong to.
class StepWriter {
 public:
  // `needed`: by ValueId, what is written.
  StepWriter(const Analysis& analysis, const PlannedStep& step,
             const std::string& name, const std::vector<char>& needed,
             const OpNames& op_names)
      : analysis_(analysis),
        module_(analysis.module),
        step_(step),
        writer_(name, analysis.module.computations),
        op_names_(op_names),
        members_(analysis.module.loops.size() + 1) {
    for (const ValueId id : module_.ids()) {
      if (Owner(id).has_value() && needed[id]) {
        FindMembers(module_.at(id).loop).push_back(id);
      }
    }
  }

  const hlo::HloModuleProto& Write(const StepPart& part) {
    std::vector<ir::Alias> aliases = part.aliases;
    for (const ValueId id : part.entering) Enter(id);
    std::vector<int64_t> sums;
    for (const ValueId id : part.summed) {
      const auto output = static_cast<int>(part.leaving.size() + sums.size());
      const auto parameter =
          static_cast<int>(part.entering.size() + sums.size());
      aliases.push_back({output, parameter});
      sums.push_back(writer_.AddParameter(module_.at(id).shape,
                                          Proto(id, step_.AtBoundary(id))));
    }
    WriteScope(std::nullopt);
    std::vector<int64_t> outputs;
    for (const ValueId id : part.leaving) outputs.push_back(Leave(id));
    for (size_t i = 0; i < sums.size(); ++i) {
      const ValueId id = part.summed[i];
      outputs.push_back(writer_.AddOp("add", module_.at(id).shape,
                                      {sums[i], Leave(id)},
                                      Proto(id, step_.AtBoundary(id))));
    }
    return writer_.Finish(outputs, aliases);
  }

 private:
  // A value as one segment computes it; none: the same for all segments.
  using Version = std::pair<ValueId, std::optional<SegmentIndex>>;

  static Version Shared(ValueId id) { return {id, std::nullopt}; }

  std::optional<SegmentIndex> Owner(ValueId id) const {
    return analysis_.plan.owner[id].FindSegment();
  }
  Sharding GetArgumentSharding(ValueId id) const {
    return step_.GetArgumentSharding(id);
  }
  bool IsArgument(ValueId id) const {
    return module_.at(id).opcode == ir::Opcode::kParameter;
  }
  // One value for all segments: arguments and the boundaries of loops.
  bool IsShared(ValueId id) const {
    return IsArgument(id) || ir::IsLoopBoundary(module_.at(id).opcode);
  }

  hlo::OpSharding Proto(ValueId id, const Sharding& sharding) const {
    return space::ToProto(sharding, module_.at(id).shape, step_.mesh());
  }

  // A value that the part begins with.
  void Enter(ValueId id) {
    const Sharding sharding = step_.AtBoundary(id);
    written_[IsShared(id) ? Shared(id) : Version(id, Owner(id))] =
        writer_.AddParameter(module_.at(id).shape, Proto(id, sharding));
    entered_[id] = sharding;
  }

  // The sharding of `id` where `segment` computes it, or whoever owns it.
  Sharding Has(ValueId id, SegmentIndex segment) const {
    const auto entered = entered_.find(id);
    if (entered != entered_.end()) return entered->second;
    if (IsArgument(id)) return GetArgumentSharding(id);
    if (module_.at(id).opcode == ir::Opcode::kLoopResult) {
      const ir::Instruction& it = module_.at(id);
      return Has(
          *module_.loops[it.boundary->loop].carries[it.boundary->element],
          segment);
    }
    if (Owner(id).has_value()) return step_.GetSharding(*Owner(id), id);
    return IsShared(id) ? GetCarrySharding(id) : step_.GetSharding(segment, id);
  }

  // A carry that begins with zeros is nobody's (a stack, a sum of gradients):
  // it is split as whoever computes its next value wants it.
  Sharding GetCarrySharding(ValueId carry) const {
    const ir::Instruction& it = module_.at(carry);
    const ValueId result =
        *module_.loops[it.boundary->loop].results[it.boundary->element];
    const ValueId next = module_.at(result).operands[0];
    const std::optional<SegmentIndex> owner = Owner(next);
    if (!owner.has_value()) return step_.Whole();
    return step_.GetSharding(*owner, step_.Has(*owner, carry) ? carry : next);
  }

  // The owned values of a loop's body, or outside of all loops.
  std::vector<ValueId>& FindMembers(std::optional<ir::LoopId> loop) {
    return loop.has_value() ? members_[*loop] : members_.back();
  }

  void WriteScope(std::optional<ir::LoopId> scope) {
    for (ValueId id : FindMembers(scope)) Emit(id, *Owner(id));
  }

  // Writes `id` as `segment` computes it; returns its id in the new module.
  int64_t Emit(ValueId id, SegmentIndex segment) {
    const auto found =
        written_.find(IsShared(id) ? Shared(id) : Version(id, segment));
    if (found != written_.end()) return found->second;
    const ir::Instruction& it = module_.at(id);
    if (it.opcode == ir::Opcode::kCarry ||
        it.opcode == ir::Opcode::kLoopResult) {
      // A carry is only met before its loop by what stands first in the body.
      WriteLoop(it.boundary->loop, segment);
      return written_.at(Shared(id));
    }
    std::vector<int64_t> operands;
    for (size_t k = 0; k < it.operands.size(); ++k) {
      operands.push_back(Operand(id, k, segment));
    }
    return written_[{id, segment}] = AddCopy(id, operands, segment);
  }

  // The operation of `id` on operands of the new module.
  int64_t AddCopy(ValueId id, const std::vector<int64_t>& operands,
                  SegmentIndex segment) {
    const ir::Instruction& it = module_.at(id);
    const hlo::OpSharding sharding = Proto(id, step_.GetSharding(segment, id));
    const int64_t copy = it.opcode == ir::Opcode::kCopy
                             ? writer_.AddConstraint(operands[0], sharding)
                             : writer_.Add(it, operands, sharding);
    const auto op_name = op_names_.find(it.name());
    if (op_name != op_names_.end()) writer_.SetOpName(op_name->second);
    return copy;
  }

  // The value as `segment` holds it.
  int64_t Held(ValueId source, SegmentIndex segment, Sharding& has) {
    const SegmentIndex from = Owner(source).value_or(segment);
    const int64_t value = Emit(source, from);
    has = Has(source, from);
    return value;
  }

  int64_t Operand(ValueId id, size_t k, SegmentIndex segment) {
    const ValueId source = module_.at(id).operands[k];
    if (step_.Redirects(segment, id, source)) {
      if (!again_.contains({source, segment})) EmitRematerialization(segment);
      return Copy(again_.at({source, segment}), source,
                  step_.GetSharding(segment, source),
                  step_.Demanded(segment, id, k));
    }
    Sharding has;
    const int64_t value = Held(source, segment, has);
    // First as the segment wants it, then as this operand needs it.
    const Sharding wanted =
        step_.Has(segment, source) ? step_.GetSharding(segment, source) : has;
    return Copy(Copy(value, source, has, wanted), source, wanted,
                step_.Demanded(segment, id, k));
  }

  // All that the segment recomputes, and those of its group: front to back,
  // once the gradients of the last one are there.
  void EmitRematerialization(SegmentIndex segment) {
    const auto [first, end] = step_.FindGroup(segment);
    const std::vector<int64_t> gradients = EmitGradients(SegmentIndex(end - 1));
    for (SegmentIndex member = first; member < end; ++member) {
      EmitEntrances(member, gradients);
      EmitAgain(member);
    }
  }

  // Those that come in and are there: a reader depends on one of them.
  std::vector<int64_t> EmitGradients(SegmentIndex segment) {
    std::vector<ValueId> there;
    for (int gradient : step_.GetRematerialization(segment).gradients) {
      const ValueId id = step_.GetGraph(segment).values[gradient].origin;
      if (written_.contains({id, Owner(id)})) there.push_back(id);
    }
    std::vector<int64_t> gradients;
    for (ValueId id : there) {
      Sharding has;
      const int64_t value = Held(id, segment, has);
      gradients.push_back(Copy(value, id, has, step_.GetSharding(segment, id)));
    }
    return gradients;
  }

  // The entrances of the rematerialization, behind a barrier that waits for the
  // gradients.
  void EmitEntrances(SegmentIndex segment,
                     const std::vector<int64_t>& gradients) {
    const space::Rematerialization& rematerialization =
        step_.GetRematerialization(segment);
    const auto& values = step_.GetGraph(segment).values;
    std::vector<int> entrances;
    std::vector<int64_t> held;
    for (size_t i = 0; i < values.size(); ++i) {
      if (!rematerialization.entrance[i]) continue;
      const ValueId id = values[i].origin;
      entrances.push_back(static_cast<int>(i));
      Sharding has;
      int64_t value = 0;
      if (rematerialization.handed[i]) {
        const SegmentIndex before(segment - 1);
        value = again_.at({id, before});
        has = step_.GetSharding(before, id);
      } else {
        value = Held(id, segment, has);
      }
      held.push_back(Copy(value, id, has, step_.GetSharding(segment, id)));
    }
    held.insert(held.end(), gradients.begin(), gradients.end());
    const std::vector<int64_t> behind = writer_.AddBarrier(held);
    for (size_t k = 0; k < entrances.size(); ++k) {
      const ValueId id = values[entrances[k]].origin;
      const bool waits = step_.keeps_barriers() || IsArgument(id) ||
                         rematerialization.handed[entrances[k]];
      again_[{id, segment}] =
          waits ? behind[k] : writer_.AddDependence(behind[k], gradients);
    }
  }

  void EmitAgain(SegmentIndex segment) {
    const space::Rematerialization& rematerialization =
        step_.GetRematerialization(segment);
    const auto& values = step_.GetGraph(segment).values;
    for (size_t i = 0; i < values.size(); ++i) {
      if (!rematerialization.recomputed[i]) continue;
      const ValueId id = values[i].origin;
      const ir::Instruction& it = module_.at(id);
      std::vector<int64_t> operands;
      for (size_t k = 0; k < it.operands.size(); ++k) {
        const auto again = again_.find({it.operands[k], segment});
        operands.push_back(
            again == again_.end()
                ? Operand(id, k, segment)
                : Copy(again->second, it.operands[k],
                       step_.GetSharding(segment, it.operands[k]),
                       step_.Demanded(segment, id, k)));
      }
      again_[{id, segment}] = AddCopy(id, operands, segment);
    }
  }

  int64_t Copy(int64_t value, ValueId id, const Sharding& from,
               const Sharding& to) {
    if (from == to) return value;
    const auto [found, added] = copies_.try_emplace({value, to}, 0);
    if (added) {
      found->second = writer_.AddConstraint(value, Proto(id, to));
    }
    return found->second;
  }

  void WriteLoop(ir::LoopId id, SegmentIndex segment) {
    const ir::Loop& loop = module_.loops[id];
    std::vector<ValueId> carries;
    ir::LoopEnd end;
    end.elements.resize(loop.carries.size());
    for (size_t k = 0; k < loop.carries.size(); ++k) {
      if (!loop.carries[k].has_value()) continue;
      end.elements[k] = static_cast<int>(carries.size());
      if (static_cast<int>(k) == loop.counter) end.counter = *end.elements[k];
      carries.push_back(*loop.carries[k]);
    }
    if (loop.counter.has_value()) {
      end.limit = loop.start + loop.step * loop.trips;
      end.upwards = loop.step > 0;
    } else {
      end.condition = loop.condition;
    }
    std::vector<ir::LoopElement> elements;
    std::vector<int64_t> initial;
    for (ValueId carry : carries) {
      const Sharding own = Has(carry, segment);
      elements.push_back({module_.at(carry).shape, Proto(carry, own)});
      initial.push_back(
          CarryOver(module_.at(carry).operands[0], carry, segment));
    }
    const std::vector<int64_t> entered = writer_.BeginLoop(elements);
    for (size_t k = 0; k < carries.size(); ++k) {
      written_[Shared(carries[k])] = entered[k];
    }
    WriteScope(id);
    std::vector<int64_t> next;
    std::vector<ValueId> results;
    for (ValueId carry : carries) {
      results.push_back(*loop.results[module_.at(carry).boundary->element]);
      next.push_back(
          CarryOver(module_.at(results.back()).operands[0], carry, segment));
    }
    const std::vector<int64_t> left = writer_.EndLoop(initial, next, end);
    for (size_t k = 0; k < results.size(); ++k) {
      written_[Shared(results[k])] = left[k];
    }
  }

  // The value that a loop takes over, in the sharding it carries it in.
  int64_t CarryOver(ValueId source, ValueId carry, SegmentIndex segment) {
    const SegmentIndex reader = Owner(carry).value_or(segment);
    Sharding has;
    const int64_t value = Held(source, reader, has);
    return Copy(value, source, has, Has(carry, segment));
  }

  // One that the part ends with, as AtBoundary has it.
  int64_t Leave(ValueId id) {
    const std::optional<SegmentIndex> owner = Owner(id);
    if (!owner.has_value() || IsArgument(id)) return Output(id);
    const int64_t value = Emit(id, *owner);
    return Copy(value, id, Has(id, *owner), step_.AtBoundary(id));
  }

  // The segment that owns a value, or else the first that has it.
  SegmentIndex FindHolder(ValueId id) const {
    if (Owner(id).has_value()) return *Owner(id);
    for (SegmentIndex s; s < analysis_.graphs.size(); ++s) {
      if (step_.Has(s, id)) return s;
    }
    return SegmentIndex(0);
  }

  int64_t Output(ValueId id) {
    if (IsArgument(id)) return written_.at(Shared(id));
    const SegmentIndex segment = FindHolder(id);
    const int64_t value = Emit(id, segment);
    return Copy(value, id, Has(id, segment), step_.Leaving(segment, id));
  }

  const Analysis& analysis_;
  const ir::Module& module_;
  const PlannedStep& step_;
  ir::ModuleWriter writer_;
  const OpNames& op_names_;
  std::vector<std::vector<ValueId>> members_;  // by loop; then of no loop
  std::map<Version, int64_t> written_;
  std::map<ValueId, Sharding> entered_;
  // Values that rematerializations compute, and those they begin with, by value
  // and segment.
  std::map<std::pair<ValueId, SegmentIndex>, int64_t> again_;
  std::map<std::pair<int64_t, Sharding>, int64_t> copies_;
};

// The operations of the part: all that its ends need, up to where it begins. A
// loop is there as a whole or not at all.
class Needed {
 public:
  Needed(const ir::Module& module, const StepPart& part)
      : module_(module), needed_(module.size(), 0), begins_(module.size(), 0) {
    for (const ValueId id : part.entering) begins_[id] = 1;
    for (const ValueId id : part.leaving) Add(id);
    for (const ValueId id : part.summed) Add(id);
    while (!open_.empty()) {
      const ValueId id = open_.back();
      open_.pop_back();
      for (const ValueId operand : module_.at(id).operands) Add(operand);
      if (module_.at(id).boundary.has_value()) {
        AddLoop(module_.at(id).boundary->loop);
      }
    }
  }

  std::vector<char> Take() && { return std::move(needed_); }

 private:
  void Add(ValueId id) {
    if (begins_[id] || needed_[id]) return;
    needed_[id] = 1;
    open_.push_back(id);
  }
  void AddLoop(ir::LoopId loop) {
    for (const auto* ids :
         {&module_.loops[loop].carries, &module_.loops[loop].results}) {
      for (const std::optional<ValueId>& id : *ids) {
        if (id.has_value()) Add(*id);
      }
    }
  }

  const ir::Module& module_;
  std::vector<char> needed_;
  std::vector<char> begins_;
  std::vector<ValueId> open_;
};

// New state is split as its argument is. Any other output that takes an
// argument's place does so only where the plan splits the two alike.
std::vector<ir::Alias> ListAliases(const Analysis& analysis,
                                   const PlannedStep& step) {
  const ir::Module& module = analysis.module;
  std::vector<ir::Alias> aliases;
  for (const ir::Alias& alias : module.aliases) {
    const ValueId argument = module.parameters[alias.parameter];
    const ValueId output = module.outputs[alias.output];
    if (analysis.passes.state_output[alias.parameter] == alias.output ||
        step.AtBoundary(argument) == step.AtBoundary(output)) {
      aliases.push_back(alias);
    }
  }
  return aliases;
}

// From 0 up: readers hold ids in 32 bits.
std::string WithSmallIds(hlo::HloModuleProto module) {
  int64_t next = 0;
  for (hlo::HloComputationProto& computation : *module.mutable_computations()) {
    std::unordered_map<int64_t, int64_t> small;
    for (hlo::HloInstructionProto& it : *computation.mutable_instructions()) {
      small[it.id()] = next;
      it.set_id(next++);
      for (int64_t& operand : *it.mutable_operand_ids()) {
        operand = small.at(operand);
      }
    }
    computation.set_root_id(small.at(computation.root_id()));
  }
  return module.SerializeAsString();
}

}  // namespace

std::string WriteStep(const Analysis& analysis, const PlannedStep& step,
                      const OpNames& op_names) {
  const ir::Module& module = analysis.module;
  const StepPart whole = {
      module.parameters, module.outputs, {}, ListAliases(analysis, step)};
  const std::vector<char> needed = Needed(module, whole).Take();
  return WithSmallIds(
      StepWriter(analysis, step, "step", needed, op_names).Write(whole));
}

std::string WritePart(const Analysis& analysis, const PlannedStep& step,
                      const std::string& name, const StepPart& part) {
  const std::vector<char> needed = Needed(analysis.module, part).Take();
  const OpNames none;
  return WithSmallIds(
      StepWriter(analysis, step, name, needed, none).Write(part));
}

}  // namespace meshwright::exporting
