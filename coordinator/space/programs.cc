#include "coordinator/space/programs.h"

#include <map>

#include "base/fingerprint.h"
#include "coordinator/ir/dim_links.h"
#include "coordinator/ir/write.h"
#include "coordinator/space/inputs.h"

namespace meshwright::space {
namespace {

using segmenter::SegmentGraph;

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

v1::Program SegmentProgram(const segmenter::Analysis& analysis,
                           const SegmentGraph& graph,
                           const SegmentAnnotation& annotation,
                           const std::vector<v1::InputSpec>& inputs,
                           const KeyContext& context) {
  const ir::Module& module = analysis.module;
  const Mesh& mesh = context.mesh;
  ir::ModuleWriter writer("segment", module.computations);
  v1::Program program;
  std::vector<int64_t> ids(graph.values.size());
  std::map<std::pair<int, Sharding>, int64_t> copies;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const ir::Instruction& it = module.at(graph.values[i].origin);
    const Sharding own = annotation.Of(static_cast<int>(i), it.shape, mesh);
    const hlo::OpSharding sharding = ToProto(own, it.shape, mesh);
    if (graph.is_input(static_cast<int>(i))) {
      ids[i] = writer.AddParameter(it.shape, sharding);
      v1::InputSpec spec = it.opcode == ir::Opcode::kParameter
                               ? inputs[it.attributes().parameter_number()]
                               : BorderInput(it.shape, 0);
      // The place in the program, not in the step: equal segments are equal
      // programs.
      spec.set_seed(i + 1);
      *program.add_inputs() = std::move(spec);
      continue;
    }
    std::vector<int64_t> operands;
    for (size_t k = 0; k < graph.values[i].operands.size(); ++k) {
      const int operand = graph.values[i].operands[k];
      const ir::Shape& shape = module.at(graph.values[operand].origin).shape;
      const Sharding has = annotation.Of(operand, shape, mesh);
      const Sharding needs = annotation.Demanded(
          static_cast<int>(i), static_cast<int>(k), operand, shape, mesh);
      if (needs == has) {
        operands.push_back(ids[operand]);
        continue;
      }
      const auto [copy, added] = copies.try_emplace({operand, needs}, 0);
      if (added) {
        copy->second = writer.AddOp("copy", shape, {ids[operand]},
                                    ToProto(needs, shape, mesh));
      }
      operands.push_back(copy->second);
    }
    ids[i] = writer.Add(it, operands, sharding);
  }
  std::vector<int64_t> outputs;
  std::map<int, int> output_number;
  for (int value : graph.outputs) {
    output_number[value] = static_cast<int>(outputs.size());
    outputs.push_back(ids[value]);
  }
  std::vector<ir::Alias> aliases;
  for (const auto& [argument, updated] : graph.state) {
    aliases.push_back({output_number.at(updated), argument});
  }
  program.set_hlo_module(Serialize(writer.Finish(outputs, aliases)));
  program.set_num_partitions(static_cast<int>(DeviceCount(mesh)));
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
