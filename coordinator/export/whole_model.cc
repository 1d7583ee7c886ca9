#include "coordinator/export/whole_model.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "coordinator/ir/write.h"
#include "coordinator/space/groups.h"
#include "coordinator/space/inputs.h"

namespace meshwright::exporting {
namespace {

using ir::ValueId;
using segmenter::Analysis;
using segmenter::SegmentGraph;
using segmenter::SegmentPlan;
using space::Sharding;

// Where a value stands in a segment's graph, and what the plan makes of it.
class PlannedStep {
 public:
  PlannedStep(const Analysis& analysis, const space::ProfileSpace& space,
              const SegmentChoice& choice)
      : analysis_(analysis), space_(space), choice_(choice) {
    index_.resize(analysis.graphs.size());
    for (size_t s = 0; s < analysis.graphs.size(); ++s) {
      const auto& values = analysis.graphs[s].values;
      for (size_t i = 0; i < values.size(); ++i) {
        index_[s][values[i].origin] = static_cast<int>(i);
      }
    }
    replays_.resize(analysis.graphs.size());
    const int count = static_cast<int>(analysis.graphs.size());
    for (int s = 0; s <= count; ++s) {
      handed_.push_back(s > 0 && s < count && Agree(s - 1, s));
    }
    for (int s = 0; s < count; ++s) {
      if (!Configuration(s).recompute) continue;
      replays_[s] = space::ReplayIn(analysis, analysis.graphs[s],
                                    {handed_[s] != 0, handed_[s + 1] != 0});
    }
    FindHomes();
  }

  const space::Mesh& mesh() const { return space_.context.mesh; }
  bool keeps_barriers() const { return space_.context.keeps_barriers; }

  bool Has(int segment, ValueId id) const {
    return index_[segment].contains(id);
  }

  Sharding Of(int segment, ValueId id) const {
    const auto found = index_[segment].find(id);
    if (found == index_[segment].end()) return Whole();
    return Configuration(segment).annotation.Of(
        found->second, analysis_.module.at(id).shape, mesh());
  }

  Sharding Leaving(int segment, ValueId id) const {
    const auto found = index_[segment].find(id);
    if (found == index_[segment].end()) return Whole();
    return Configuration(segment).annotation.Leaving(
        found->second, analysis_.module.at(id).shape, mesh());
  }

  Sharding Demanded(int segment, ValueId id, size_t operand) const {
    const ValueId source = analysis_.module.at(id).operands[operand];
    const auto user = index_[segment].find(id);
    const auto value = index_[segment].find(source);
    if (user == index_[segment].end() || value == index_[segment].end()) {
      return Whole();
    }
    return Configuration(segment).annotation.Demanded(
        user->second, static_cast<int>(operand), value->second,
        analysis_.module.at(source).shape, mesh());
  }

  // Empty where the segment recomputes nothing.
  const space::Replay& ReplayOf(int segment) const { return replays_[segment]; }
  const SegmentGraph& GraphOf(int segment) const {
    return analysis_.graphs[segment];
  }

  // The segments that recompute together with this one: from, and to behind.
  std::pair<int, int> GroupOf(int segment) const {
    std::pair<int, int> group = {segment, segment + 1};
    while (handed_[group.first]) --group.first;
    while (handed_[group.second]) ++group.second;
    return group;
  }

  // Whether the segment's `id` reads its operand as the replay has it.
  bool Redirects(int segment, ValueId id, ValueId source) const {
    if (segment < 0 || replays_[segment].empty()) return false;
    const auto user = index_[segment].find(id);
    const auto value = index_[segment].find(source);
    return user != index_[segment].end() && value != index_[segment].end() &&
           replays_[segment].Redirects(user->second, value->second);
  }

  // The sharding an argument has for the whole step: that of the segment that
  // updates it, else of the first that reads it.
  Sharding OfArgument(ValueId id) const {
    const auto home = home_.find(id);
    return home == home_.end() ? Whole() : Of(home->second, id);
  }

  Sharding Whole() const { return Sharding(mesh().size(), -1); }

 private:
  const space::Configuration& Configuration(int segment) const {
    return space_.types[analysis_.type_of_segment[segment]]
        .configurations[choice_[segment]];
  }

  // Whether what enters the second comes from the replay of the first.
  bool Agree(int from, int to) const {
    if (analysis_.type_of_segment[from] != analysis_.type_of_segment[to] ||
        !Configuration(from).role.hands_on || !Configuration(to).role.handed) {
      return false;
    }
    const auto links = space::FindLinks(analysis_, to);
    return !links.empty() &&
           std::all_of(links.begin(), links.end(), [&](const auto& link) {
             return GraphOf(from).values[link.exit].origin ==
                    GraphOf(to).values[link.entry].origin;
           });
  }

  void FindHomes() {
    for (size_t s = 0; s < analysis_.graphs.size(); ++s) {
      const SegmentGraph& graph = analysis_.graphs[s];
      for (const auto& [argument, updated] : graph.state) {
        home_[graph.values[argument].origin] = static_cast<int>(s);
      }
    }
    for (size_t s = 0; s < analysis_.graphs.size(); ++s) {
      const SegmentGraph& graph = analysis_.graphs[s];
      for (int i = 0; i < graph.input_count; ++i) {
        home_.emplace(graph.values[i].origin, static_cast<int>(s));
      }
    }
  }

  const Analysis& analysis_;
  const space::ProfileSpace& space_;
  const SegmentChoice& choice_;
  std::vector<std::unordered_map<ValueId, int>> index_;
  std::vector<char> handed_;            // by segment, and one behind them
  std::vector<space::Replay> replays_;  // by segment
  std::unordered_map<ValueId, int> home_;
};

// Every loop is written as the step has it, its body with the shardings of the
// segments its operations belong to.
class StepWriter {
 public:
  StepWriter(const Analysis& analysis, const PlannedStep& step)
      : analysis_(analysis),
        module_(analysis.module),
        step_(step),
        writer_("step", analysis.module.computations),
        members_(analysis.module.loops.size() + 1) {
    for (ValueId id = 0; id < module_.size(); ++id) {
      if (Owner(id) >= 0) members_[module_.at(id).loop + 1].push_back(id);
    }
  }

  const hlo::HloModuleProto& Write() {
    for (ValueId id : module_.parameters) {
      written_[{id, kShared}] =
          writer_.AddParameter(module_.at(id).shape, Proto(id, OfArgument(id)));
    }
    WriteScope(ir::kNoLoop);
    std::vector<int64_t> outputs;
    for (size_t i = 0; i < module_.outputs.size(); ++i) {
      outputs.push_back(Output(module_.outputs[i]));
    }
    return writer_.Finish(outputs, module_.aliases);
  }

 private:
  static constexpr int kShared = -1;

  int Owner(ValueId id) const { return analysis_.plan.owner[id]; }
  Sharding OfArgument(ValueId id) const { return step_.OfArgument(id); }
  bool IsArgument(ValueId id) const {
    return module_.at(id).opcode == ir::Opcode::kParameter;
  }
  // One value for all segments: arguments and the borders of loops.
  bool IsShared(ValueId id) const {
    return IsArgument(id) || ir::IsLoopBorder(module_.at(id).opcode);
  }

  hlo::OpSharding Proto(ValueId id, const Sharding& sharding) const {
    return space::ToProto(sharding, module_.at(id).shape, step_.mesh());
  }

  // What `id` is split like where `segment` computes it, or whoever owns it.
  Sharding Has(ValueId id, int segment) const {
    if (IsArgument(id)) return OfArgument(id);
    if (module_.at(id).opcode == ir::Opcode::kLoopResult) {
      const ir::Instruction& it = module_.at(id);
      return Has(module_.loops[it.border].carries[it.element], segment);
    }
    if (Owner(id) >= 0) return step_.Of(Owner(id), id);
    return IsShared(id) ? OfCarry(id) : step_.Of(segment, id);
  }

  // A carry that begins with zeros is nobody's (a stack, a sum of gradients):
  // it is split as whoever computes its next value wants it.
  Sharding OfCarry(ValueId carry) const {
    const ir::Instruction& it = module_.at(carry);
    const ValueId result = module_.loops[it.border].results[it.element];
    const ValueId next = module_.at(result).operands[0];
    const int owner = Owner(next);
    if (owner < 0) return step_.Whole();
    return step_.Of(owner, step_.Has(owner, carry) ? carry : next);
  }

  void WriteScope(ir::LoopId scope) {
    for (ValueId id : members_[scope + 1]) Emit(id, Owner(id));
  }

  // Writes `id` as `segment` computes it; returns its id in the new module.
  int64_t Emit(ValueId id, int segment) {
    const int version = IsShared(id) ? kShared : segment;
    const auto found = written_.find({id, version});
    if (found != written_.end()) return found->second;
    const ir::Instruction& it = module_.at(id);
    if (it.opcode == ir::Opcode::kCarry ||
        it.opcode == ir::Opcode::kLoopResult) {
      // A carry is only met before its loop by what stands first in the body.
      WriteLoop(it.border, segment);
      return written_.at({id, kShared});
    }
    std::vector<int64_t> operands;
    for (size_t k = 0; k < it.operands.size(); ++k) {
      operands.push_back(Operand(id, k, segment));
    }
    return written_[{id, segment}] =
               writer_.Add(it, operands, Proto(id, step_.Of(segment, id)));
  }

  // The value as `segment` holds it.
  int64_t Held(ValueId source, int segment, Sharding& has) {
    const int from = Owner(source) >= 0 ? Owner(source) : segment;
    const int64_t value = Emit(source, from);
    has = Has(source, from);
    return value;
  }

  int64_t Operand(ValueId id, size_t k, int segment) {
    const ValueId source = module_.at(id).operands[k];
    if (step_.Redirects(segment, id, source)) {
      if (!again_.contains({source, segment})) EmitReplay(segment);
      return Copy(again_.at({source, segment}), source,
                  step_.Of(segment, source), step_.Demanded(segment, id, k));
    }
    Sharding has;
    const int64_t value = Held(source, segment, has);
    // First as the segment wants it, then as this operand needs it.
    const Sharding wanted =
        step_.Has(segment, source) ? step_.Of(segment, source) : has;
    return Copy(Copy(value, source, has, wanted), source, wanted,
                step_.Demanded(segment, id, k));
  }

  // All that the segment computes anew, and those of its group: front to back,
  // once the gradients of the last one are there.
  void EmitReplay(int segment) {
    const auto [first, end] = step_.GroupOf(segment);
    const std::vector<int64_t> gradients = GradientsOf(end - 1);
    for (int member = first; member < end; ++member) {
      EmitEntrances(member, gradients);
      EmitAgain(member);
    }
  }

  // Those that come in and are there: a reader depends on one of them.
  std::vector<int64_t> GradientsOf(int segment) {
    std::vector<ValueId> there;
    for (int gradient : step_.ReplayOf(segment).gradients) {
      const ValueId id = step_.GraphOf(segment).values[gradient].origin;
      if (written_.contains({id, Owner(id)})) there.push_back(id);
    }
    std::vector<int64_t> gradients;
    for (ValueId id : there) {
      Sharding has;
      const int64_t value = Held(id, segment, has);
      gradients.push_back(Copy(value, id, has, step_.Of(segment, id)));
    }
    return gradients;
  }

  // What the replay begins with, behind a barrier that waits for the gradients.
  void EmitEntrances(int segment, const std::vector<int64_t>& gradients) {
    const space::Replay& replay = step_.ReplayOf(segment);
    const auto& values = step_.GraphOf(segment).values;
    std::vector<int> entrances;
    std::vector<int64_t> held;
    for (size_t i = 0; i < values.size(); ++i) {
      if (!replay.entrance[i]) continue;
      const ValueId id = values[i].origin;
      entrances.push_back(static_cast<int>(i));
      Sharding has;
      int64_t value = -1;
      if (replay.handed[i]) {
        value = again_.at({id, segment - 1});
        has = step_.Of(segment - 1, id);
      } else {
        value = Held(id, segment, has);
      }
      held.push_back(Copy(value, id, has, step_.Of(segment, id)));
    }
    held.insert(held.end(), gradients.begin(), gradients.end());
    const std::vector<int64_t> behind = writer_.AddBarrier(held);
    for (size_t k = 0; k < entrances.size(); ++k) {
      const ValueId id = values[entrances[k]].origin;
      const bool waits = step_.keeps_barriers() || IsArgument(id) ||
                         replay.handed[entrances[k]];
      again_[{id, segment}] =
          waits ? behind[k] : writer_.AddDependence(behind[k], gradients);
    }
  }

  void EmitAgain(int segment) {
    const space::Replay& replay = step_.ReplayOf(segment);
    const auto& values = step_.GraphOf(segment).values;
    for (size_t i = 0; i < values.size(); ++i) {
      if (!replay.again[i]) continue;
      const ValueId id = values[i].origin;
      const ir::Instruction& it = module_.at(id);
      std::vector<int64_t> operands;
      for (size_t k = 0; k < it.operands.size(); ++k) {
        const auto again = again_.find({it.operands[k], segment});
        operands.push_back(again == again_.end()
                               ? Operand(id, k, segment)
                               : Copy(again->second, it.operands[k],
                                      step_.Of(segment, it.operands[k]),
                                      step_.Demanded(segment, id, k)));
      }
      again_[{id, segment}] =
          writer_.Add(it, operands, Proto(id, step_.Of(segment, id)));
    }
  }

  int64_t Copy(int64_t value, ValueId id, const Sharding& from,
               const Sharding& to) {
    if (from == to) return value;
    const auto [found, added] = copies_.try_emplace({value, to}, 0);
    if (added) {
      found->second =
          writer_.AddOp("copy", module_.at(id).shape, {value}, Proto(id, to));
    }
    return found->second;
  }

  void WriteLoop(ir::LoopId id, int segment) {
    const ir::Loop& loop = module_.loops[id];
    std::vector<ValueId> carries;
    ir::LoopEnd end;
    end.elements.assign(loop.carries.size(), -1);
    for (size_t k = 0; k < loop.carries.size(); ++k) {
      if (loop.carries[k] < 0) continue;
      end.elements[k] = static_cast<int>(carries.size());
      if (static_cast<int>(k) == loop.counter) end.counter = end.elements[k];
      carries.push_back(loop.carries[k]);
    }
    if (loop.counter >= 0) {
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
      initial.push_back(Carried(module_.at(carry).operands[0], carry, segment));
    }
    const std::vector<int64_t> entered = writer_.BeginLoop(elements);
    for (size_t k = 0; k < carries.size(); ++k) {
      written_[{carries[k], kShared}] = entered[k];
    }
    WriteScope(id);
    std::vector<int64_t> next;
    std::vector<ValueId> results;
    for (ValueId carry : carries) {
      results.push_back(loop.results[module_.at(carry).element]);
      next.push_back(
          Carried(module_.at(results.back()).operands[0], carry, segment));
    }
    const std::vector<int64_t> left = writer_.EndLoop(initial, next, end);
    for (size_t k = 0; k < results.size(); ++k) {
      written_[{results[k], kShared}] = left[k];
    }
  }

  // What a loop takes over, in the sharding it carries it in.
  int64_t Carried(ValueId source, ValueId carry, int segment) {
    const int reader = Owner(carry) >= 0 ? Owner(carry) : segment;
    Sharding has;
    const int64_t value = Held(source, reader, has);
    return Copy(value, source, has, Has(carry, segment));
  }

  int64_t Output(ValueId id) {
    if (IsArgument(id)) return written_.at({id, kShared});
    int segment = Owner(id);
    for (size_t s = 0; segment < 0 && s < analysis_.graphs.size(); ++s) {
      if (step_.Has(static_cast<int>(s), id)) segment = static_cast<int>(s);
    }
    segment = std::max(segment, 0);
    const int64_t value = Emit(id, segment);
    return Copy(value, id, Has(id, segment), step_.Leaving(segment, id));
  }

  const Analysis& analysis_;
  const ir::Module& module_;
  const PlannedStep& step_;
  ir::ModuleWriter writer_;
  std::vector<std::vector<ValueId>> members_;  // owned values by loop, shifted
  std::map<std::pair<ValueId, int>, int64_t> written_;  // by value and segment
  // What replays compute, and what they begin with, by value and segment.
  std::map<std::pair<ValueId, int>, int64_t> again_;
  std::map<std::pair<int64_t, Sharding>, int64_t> copies_;
};

}  // namespace

std::string ArgumentName(const ir::Instruction& argument) {
  const std::string& label = argument.attributes().metadata().op_name();
  return label.empty() ? argument.name() : label;
}

std::string ShardingText(const Sharding& sharding, int rank) {
  std::string text = "[";
  for (int dim = 0; dim < rank; ++dim) {
    std::string axes;
    for (size_t axis = 0; axis < sharding.size(); ++axis) {
      if (sharding[axis] == dim) absl::StrAppend(&axes, axis);
    }
    absl::StrAppend(&text, dim == 0 ? "" : ",", axes.empty() ? "-" : axes);
  }
  return text + "]";
}

v1::Program WholeProgram(const Analysis& analysis,
                         const space::ProfileSpace& space,
                         const SegmentChoice& choice) {
  const PlannedStep step(analysis, space, choice);
  v1::Program program;
  StepWriter(analysis, step)
      .Write()
      .SerializeToString(program.mutable_hlo_module());
  program.set_num_partitions(
      static_cast<int>(space::DeviceCount(space.context.mesh)));
  for (v1::InputSpec& input : space::ArgumentInputs(analysis)) {
    *program.add_inputs() = std::move(input);
  }
  program.set_key(space::ProgramKey(program, space.context));
  return program;
}

void DescribeArguments(const Analysis& analysis,
                       const space::ProfileSpace& space,
                       const SegmentChoice& choice, v1::Plan* plan) {
  const PlannedStep step(analysis, space, choice);
  const ir::Module& module = analysis.module;
  for (size_t number = 0; number < module.parameters.size(); ++number) {
    const ValueId id = module.parameters[number];
    const ir::Instruction& it = module.at(id);
    v1::PlanArgument& argument = *plan->add_arguments();
    argument.set_index(static_cast<int>(number));
    argument.set_name(ArgumentName(it));
    argument.set_role(segmenter::RoleName(analysis.direction.roles[number]));
    argument.set_sharding(ShardingText(step.OfArgument(id), it.shape.rank()));
    for (int64_t dim : it.shape.dims) argument.add_shape(dim);
  }
  for (size_t number = 0; number < module.outputs.size(); ++number) {
    const ValueId id = module.outputs[number];
    const ir::Instruction& it = module.at(id);
    const int owner = analysis.plan.owner[id];
    const Sharding sharding = owner >= 0 ? step.Leaving(owner, id)
                              : it.opcode == ir::Opcode::kParameter
                                  ? step.OfArgument(id)
                                  : step.Whole();
    v1::PlanArgument& output = *plan->add_outputs();
    output.set_index(static_cast<int>(number));
    output.set_role("result");
    for (size_t p = 0; p < module.parameters.size(); ++p) {
      if (analysis.direction.state_output[p] == static_cast<int>(number)) {
        output.set_role(segmenter::RoleName(analysis.direction.roles[p]));
        output.set_name(plan->arguments(static_cast<int>(p)).name());
      }
    }
    output.set_sharding(ShardingText(sharding, it.shape.rank()));
    for (int64_t dim : it.shape.dims) output.add_shape(dim);
  }
}

}  // namespace meshwright::exporting
