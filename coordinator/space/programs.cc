#include "coordinator/space/programs.h"

#include "base/fingerprint.h"
#include "coordinator/ir/dim_links.h"
#include "coordinator/ir/write.h"
#include "coordinator/space/inputs.h"

namespace meshwright::space {

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

v1::Program ReshardingProgram(const ir::Shape& shape, const Sharding& from,
                              const Sharding& to, int gradients,
                              const KeyContext& context) {
  static const auto* const no_computations =
      new std::map<int64_t, const hlo::HloComputationProto*>();
  ir::ModuleWriter writer("resharding", *no_computations);
  const hlo::OpSharding before = ToProto(from, shape, context.mesh);
  const hlo::OpSharding after = ToProto(to, shape, context.mesh);
  v1::Program program;
  const int64_t activation = writer.AddParameter(shape, before);
  *program.add_inputs() = BorderInput(shape, 1);
  std::vector<int64_t> cotangents;
  for (int i = 0; i < gradients; ++i) {
    cotangents.push_back(writer.AddParameter(shape, after));
    *program.add_inputs() = BorderInput(shape, 2 + i);
  }
  std::vector<int64_t> outputs = {
      writer.AddOp("copy", shape, {activation}, after)};
  for (int64_t cotangent : cotangents) {
    outputs.push_back(writer.AddOp("copy", shape, {cotangent}, before));
  }
  program.set_hlo_module(writer.Finish(outputs, {}).SerializeAsString());
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
