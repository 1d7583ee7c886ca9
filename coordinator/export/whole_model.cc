#include "coordinator/export/whole_model.h"

#include <map>
#include <tuple>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "coordinator/ir/write.h"
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
    FindHomes();
  }

  const space::Mesh& mesh() const { return space_.context.mesh; }

  bool Has(int segment, ValueId id) const {
    return index_[segment].contains(id);
  }

  Sharding Of(int segment, ValueId id) const {
    const auto found = index_[segment].find(id);
    if (found == index_[segment].end()) return Whole();
    return Configuration(segment).annotation.Of(
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
  std::unordered_map<ValueId, int> home_;
};

class StepWriter {
 public:
  StepWriter(const Analysis& analysis, const PlannedStep& step)
      : analysis_(analysis),
        module_(analysis.module),
        step_(step),
        writer_("step", analysis.module.computations) {}

  hlo::HloModuleProto Write() {
    for (ValueId id : module_.parameters) {
      written_[{id, kShared}] =
          writer_.AddParameter(module_.at(id).shape, Proto(id, OfArgument(id)));
    }
    for (ValueId id = 0; id < module_.size(); ++id) {
      const int owner = analysis_.plan.owner[id];
      if (owner >= 0) Emit(id, owner);
    }
    std::vector<int64_t> outputs;
    for (size_t i = 0; i < module_.outputs.size(); ++i) {
      outputs.push_back(Output(module_.outputs[i]));
    }
    return writer_.Finish(outputs, module_.aliases);
  }

 private:
  static constexpr int kShared = -1;

  Sharding OfArgument(ValueId id) const { return step_.OfArgument(id); }
  bool IsArgument(ValueId id) const {
    return module_.at(id).opcode == ir::Opcode::kParameter;
  }

  hlo::OpSharding Proto(ValueId id, const Sharding& sharding) const {
    return space::ToProto(sharding, module_.at(id).shape, step_.mesh());
  }

  // Writes `id` as `segment` computes it; returns its id in the new module.
  int64_t Emit(ValueId id, int segment) {
    const auto found = written_.find({id, segment});
    if (found != written_.end()) return found->second;
    const ir::Instruction& it = module_.at(id);
    std::vector<int64_t> operands;
    for (size_t k = 0; k < it.operands.size(); ++k) {
      operands.push_back(Operand(id, k, segment));
    }
    return written_[{id, segment}] =
               writer_.Add(it, operands, Proto(id, step_.Of(segment, id)));
  }

  int64_t Operand(ValueId id, size_t k, int segment) {
    const ValueId source = module_.at(id).operands[k];
    int64_t value;
    Sharding has;
    if (IsArgument(source)) {
      value = written_.at({source, kShared});
      has = OfArgument(source);
    } else {
      const int owner = analysis_.plan.owner[source];
      const int from = owner >= 0 ? owner : segment;
      value = Emit(source, from);
      has = step_.Of(from, source);
    }
    // First as the segment wants it, then as this operand needs it.
    const Sharding wanted =
        step_.Has(segment, source) ? step_.Of(segment, source) : has;
    value = Copy(value, source, has, wanted);
    return Copy(value, source, wanted, step_.Demanded(segment, id, k));
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

  int64_t Output(ValueId id) {
    if (IsArgument(id)) return written_.at({id, kShared});
    const int owner = analysis_.plan.owner[id];
    if (owner >= 0) return Emit(id, owner);
    for (size_t s = 0; s < analysis_.graphs.size(); ++s) {
      if (step_.Has(static_cast<int>(s), id)) {
        return Emit(id, static_cast<int>(s));
      }
    }
    return Emit(id, 0);
  }

  const Analysis& analysis_;
  const ir::Module& module_;
  const PlannedStep& step_;
  ir::ModuleWriter writer_;
  std::map<std::pair<ValueId, int>, int64_t> written_;  // by value and segment
  std::map<std::pair<int64_t, Sharding>, int64_t> copies_;
};

// One entry per dimension: the mesh axes that split it, outer first, or "-".
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

}  // namespace

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
    const std::string& label = it.attributes().metadata().op_name();
    argument.set_name(label.empty() ? it.name() : label);
    argument.set_role(segmenter::RoleName(analysis.direction.roles[number]));
    argument.set_sharding(ShardingText(step.OfArgument(id), it.shape.rank()));
    for (int64_t dim : it.shape.dims) argument.add_shape(dim);
  }
  for (size_t number = 0; number < module.outputs.size(); ++number) {
    const ValueId id = module.outputs[number];
    const ir::Instruction& it = module.at(id);
    const int owner = analysis.plan.owner[id];
    const Sharding sharding = owner >= 0 ? step.Of(owner, id)
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
