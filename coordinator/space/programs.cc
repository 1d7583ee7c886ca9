#include "coordinator/space/programs.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "base/fingerprint.h"
#include "coordinator/ir/dim_links.h"
#include "coordinator/ir/write.h"
#include "coordinator/space/inputs.h"

namespace meshwright::space {
namespace {

using segmenter::SegmentGraph;
using segmenter::SegmentValue;

// Canonical bytes: the writer's ids depend on structure only and none of the
// messages it fills has a map.
std::string Serialize(const hlo::HloModuleProto& module) {
  std::string bytes;
  module.SerializeToString(&bytes);
  return bytes;
}

}  // namespace

Sharding SegmentAnnotation::Of(int value, const ir::Shape& shape,
                               const Mesh& mesh) const {
  Sharding sharding;
  for (const AxisAnnotation& axis : axes) sharding.push_back(axis.split[value]);
  const std::vector<int64_t>* dims = ir::UniformDims(shape);
  if (dims == nullptr) return Sharding(mesh.size(), -1);
  return Legalize(sharding, *dims, mesh);
}

Sharding SegmentAnnotation::Demanded(int value, int operand, int operand_value,
                                     const ir::Shape& shape,
                                     const Mesh& mesh) const {
  Sharding sharding;
  for (const AxisAnnotation& axis : axes) {
    const auto found = axis.demands.find({value, operand});
    sharding.push_back(found == axis.demands.end() ? axis.split[operand_value]
                                                   : found->second);
  }
  const std::vector<int64_t>* dims = ir::UniformDims(shape);
  if (dims == nullptr) return Sharding(mesh.size(), -1);
  return Legalize(sharding, *dims, mesh);
}

Sharding SegmentAnnotation::Leaving(int value, const ir::Shape& shape,
                                    const Mesh& mesh) const {
  Sharding sharding;
  for (const AxisAnnotation& axis : axes) {
    const auto found = axis.results.find(value);
    sharding.push_back(found == axis.results.end() ? axis.split[value]
                                                   : found->second);
  }
  const std::vector<int64_t>* dims = ir::UniformDims(shape);
  if (dims == nullptr) return Sharding(mesh.size(), -1);
  return Legalize(sharding, *dims, mesh);
}

namespace {

// Writes the graph of one segment, kept loops as loops.
class SegmentWriter {
 public:
  SegmentWriter(const segmenter::Analysis& analysis, const SegmentGraph& graph,
                const SegmentAnnotation& annotation,
                const std::vector<v1::InputSpec>& inputs, const Mesh& mesh,
                const ProgramExtent& extent)
      : analysis_(analysis),
        module_(analysis.module),
        graph_(graph),
        annotation_(annotation),
        inputs_(inputs),
        mesh_(mesh),
        extent_(extent),
        writer_("segment", analysis.module.computations),
        ids_(graph.values.size(), -1),
        parameter_number_(graph.values.size(), -1) {
    if (module_.loops.empty()) return;
    for (size_t i = 0; i < graph.values.size(); ++i) {
      index_[Origin(static_cast<int>(i))] = static_cast<int>(i);
    }
  }

  v1::Program Write() {
    for (int i = 0; i < graph_.input_count; ++i) {
      if (IsRead(i)) WriteInput(i);
    }
    WriteScope(ir::kNoLoop);
    std::vector<int64_t> outputs;
    std::map<int, int> output_number;
    for (int value : Outputs()) {
      output_number[value] = static_cast<int>(outputs.size());
      outputs.push_back(As(value, ir::kNoLoop,
                           annotation_.Leaving(value, At(value).shape, mesh_)));
    }
    std::vector<ir::Alias> aliases;
    for (const auto& [entered, left] : Updates()) {
      const auto found = output_number.find(left);
      if (found == output_number.end() || parameter_number_[entered] < 0) {
        continue;
      }
      aliases.push_back({found->second, parameter_number_[entered]});
    }
    program_.set_hlo_module(Serialize(writer_.Finish(outputs, aliases)));
    program_.set_num_partitions(static_cast<int>(DeviceCount(mesh_)));
    return std::move(program_);
  }

 private:
  ir::ValueId Origin(int i) const { return graph_.values[i].origin; }
  const ir::Instruction& At(int i) const { return module_.at(Origin(i)); }
  Sharding Own(int i) const { return annotation_.Of(i, At(i).shape, mesh_); }

  // The innermost loop around a value that is written as a loop.
  ir::LoopId ScopeOf(int i) const { return Kept(At(i).loop); }
  ir::LoopId Kept(ir::LoopId loop) const {
    while (loop != ir::kNoLoop && !analysis_.plan.kept_loops[loop]) {
      loop = module_.loops[loop].parent;
    }
    return loop;
  }
  bool IsKeptBorder(int i) const {
    const ir::LoopId loop = At(i).border;
    return !graph_.is_input(i) && loop != ir::kNoLoop &&
           analysis_.plan.kept_loops[loop];
  }

  // ---- what the program is made of ----

  bool IsInside(int i) const {
    return segmenter::TripsAround(analysis_, Origin(i)) > 1;
  }
  bool IsLeftOut(int i) const {
    if (extent_.side == LoopSide::kBoth || graph_.is_input(i)) return false;
    if (extent_.side == LoopSide::kOutside) return IsInside(i);
    return !IsInside(i) && analysis_.plan.owner[Origin(i)] !=
                               segmenter::SegmentPlan::kEverywhere;
  }
  // A value of the program that what is left out computes.
  bool Enters(int i) const {
    const SegmentValue& it = graph_.values[i];
    if (graph_.is_input(i) || IsLeftOut(i)) return false;
    if (extent_.side == LoopSide::kOutside) {
      return !it.operands.empty() && IsLeftOut(it.operands[0]);
    }
    return extent_.side == LoopSide::kInside && IsOuterCarry(i);
  }
  bool IsRead(int value) const {
    const auto& users = graph_.values[value].users;
    return extent_.side == LoopSide::kBoth ||
           std::any_of(users.begin(), users.end(), [&](int user) {
             return !IsLeftOut(user) && !Enters(user);
           });
  }
  // Of the outermost loop that is looked through.
  bool IsOuterCarry(int i) const {
    const ir::Instruction& it = At(i);
    return it.opcode == ir::Opcode::kCarry && !IsKeptBorder(i) &&
           segmenter::TripsAround(analysis_, it.operands[0]) == 1;
  }

  // Those of the segment, and what is left out would read.
  std::vector<int> Outputs() const {
    if (extent_.side == LoopSide::kBoth) return graph_.outputs;
    std::vector<int> outputs;
    for (int i = graph_.input_count; i < static_cast<int>(ids_.size()); ++i) {
      if (IsLeftOut(i) || ids_[i] < 0 || Enters(i)) continue;
      if (extent_.side == LoopSide::kInside && !IsInside(i)) continue;
      const auto& users = graph_.values[i].users;
      const bool is_output =
          std::count(graph_.outputs.begin(), graph_.outputs.end(), i) > 0;
      const bool is_read =
          At(i).opcode != ir::Opcode::kConstant &&
          std::any_of(users.begin(), users.end(), [&](int user) {
            return IsLeftOut(user) || Enters(user);
          });
      if (is_output || is_read) outputs.push_back(i);
    }
    return outputs;
  }

  // What enters, and what takes its place: state, and what a trip hands to the
  // next one.
  std::vector<std::pair<int, int>> Updates() const {
    std::vector<std::pair<int, int>> updates = graph_.state;
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      const int carry = static_cast<int>(i);
      if (!Enters(carry) || !IsOuterCarry(carry)) continue;
      const ir::Instruction& it = At(carry);
      const auto result =
          index_.find(module_.loops[it.border].results[it.element]);
      if (result == index_.end()) continue;
      updates.emplace_back(carry, graph_.values[result->second].operands[0]);
    }
    return updates;
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
                             : BorderInput(it.shape, 0);
    // The place in the program, not in the step: equal segments are equal
    // programs.
    spec.set_seed(static_cast<uint64_t>(i) + 1);
    *program_.add_inputs() = std::move(spec);
  }

  void WriteScope(ir::LoopId scope) {
    for (int i = graph_.input_count; i < static_cast<int>(ids_.size()); ++i) {
      if (ScopeOf(i) != scope) continue;
      if (IsLeftOut(i)) {
        if (extent_.side == LoopSide::kInside && IsRead(i)) WriteInput(i);
      } else if (Enters(i)) {
        WriteInput(i);
      } else if (!IsKeptBorder(i)) {
        WriteValue(i, scope);
      } else if (At(i).opcode == ir::Opcode::kLoopResult && ids_[i] < 0) {
        WriteLoop(At(i).border, scope);
      }
    }
  }

  void WriteValue(int i, ir::LoopId scope) {
    std::vector<int64_t> operands;
    for (size_t k = 0; k < graph_.values[i].operands.size(); ++k) {
      const int operand = graph_.values[i].operands[k];
      operands.push_back(
          As(operand, scope,
             annotation_.Demanded(i, static_cast<int>(k), operand,
                                  At(operand).shape, mesh_)));
    }
    ids_[i] = writer_.Add(At(i), operands, ToProto(Own(i), At(i).shape, mesh_));
  }

  // The value in the wanted sharding; copies stay in the loop they are made in.
  int64_t As(int i, ir::LoopId scope, const Sharding& wanted) {
    if (wanted == Own(i)) return ids_[i];
    const auto [copy, added] = copies_.try_emplace({scope, i, wanted}, 0);
    if (added) {
      copy->second = writer_.AddOp("copy", At(i).shape, {ids_[i]},
                                   ToProto(wanted, At(i).shape, mesh_));
    }
    return copy->second;
  }

  void WriteLoop(ir::LoopId id, ir::LoopId outside) {
    const ir::Loop& loop = module_.loops[id];
    ir::LoopEnd end;
    end.elements.assign(loop.carries.size(), -1);
    std::vector<int> carries;
    std::vector<ir::LoopElement> elements;
    std::vector<int64_t> initial;
    for (size_t k = 0; k < loop.carries.size(); ++k) {
      const auto found = index_.find(loop.carries[k]);
      if (found == index_.end()) continue;
      const int carry = found->second;
      end.elements[k] = static_cast<int>(carries.size());
      if (static_cast<int>(k) == loop.counter) end.counter = end.elements[k];
      carries.push_back(carry);
      elements.push_back(
          {At(carry).shape, ToProto(Own(carry), At(carry).shape, mesh_)});
      initial.push_back(
          As(graph_.values[carry].operands[0], outside, Own(carry)));
    }
    if (loop.counter >= 0) {
      const int64_t trips = std::min(loop.trips, extent_.most_trips);
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
      results.push_back(index_.at(loop.results[At(carry).element]));
      next.push_back(
          As(graph_.values[results.back()].operands[0], id, Own(carry)));
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

  const segmenter::Analysis& analysis_;
  const ir::Module& module_;
  const SegmentGraph& graph_;
  const SegmentAnnotation& annotation_;
  const std::vector<v1::InputSpec>& inputs_;
  const Mesh& mesh_;
  const ProgramExtent& extent_;
  ir::ModuleWriter writer_;
  std::vector<int64_t> ids_;
  std::vector<int> parameter_number_;
  std::unordered_map<ir::ValueId, int> index_;  // where there are loops
  std::map<std::tuple<ir::LoopId, int, Sharding>, int64_t> copies_;
  v1::Program program_;
};

}  // namespace

v1::Program SegmentProgram(const segmenter::Analysis& analysis,
                           const SegmentGraph& graph,
                           const SegmentAnnotation& annotation,
                           const std::vector<v1::InputSpec>& inputs,
                           const KeyContext& context,
                           const ProgramExtent& extent) {
  v1::Program program =
      SegmentWriter(analysis, graph, annotation, inputs, context.mesh, extent)
          .Write();
  program.set_key(ProgramKey(program, context));
  return program;
}

v1::Program ReshardingProgram(const ir::Shape& shape, const Sharding& from,
                              const Sharding& to, bool gradient,
                              const KeyContext& context) {
  static const auto* const no_computations =
      new std::map<int64_t, const hlo::HloComputationProto*>();
  ir::ModuleWriter writer("resharding", *no_computations);
  const hlo::OpSharding before = ToProto(from, shape, context.mesh);
  const hlo::OpSharding after = ToProto(to, shape, context.mesh);
  v1::Program program;
  const int64_t activation = writer.AddParameter(shape, before);
  *program.add_inputs() = BorderInput(shape, 1);
  std::vector<int64_t> outputs;
  if (gradient) {
    const int64_t cotangent = writer.AddParameter(shape, after);
    *program.add_inputs() = BorderInput(shape, 2);
    outputs.push_back(writer.AddOp("copy", shape, {activation}, after));
    outputs.push_back(writer.AddOp("copy", shape, {cotangent}, before));
  } else {
    outputs.push_back(writer.AddOp("copy", shape, {activation}, after));
  }
  program.set_hlo_module(Serialize(writer.Finish(outputs, {})));
  program.set_num_partitions(static_cast<int>(DeviceCount(context.mesh)));
  program.set_key(ProgramKey(program, context));
  return program;
}

std::string ProgramKey(const v1::Program& program, const KeyContext& context) {
  base::Fingerprinter print;
  print.Add(program.hlo_module());
  print.Add(program.num_partitions());
  for (const v1::InputSpec& input : program.inputs()) {
    print.Add(input.kind()).Add(input.bound());
  }
  print.Add(static_cast<int64_t>(context.mesh.size()));
  for (int64_t size : context.mesh) print.Add(size);
  print.Add(context.device_kind);
  print.Add(context.platform_version);
  print.Add(context.options.version());
  return print.Hex();
}

}  // namespace meshwright::space
