#include "coordinator/space/programs/resharding_program.h"

#include "coordinator/ir/write.h"
#include "coordinator/space/programs/inputs.h"

namespace meshwright::space {

v1::Program MakeReshardingProgram(const ir::Shape& shape, const Sharding& from,
                                  const Sharding& to, int gradients,
                                  const KeyContext& context) {
  static const auto* const no_computations =
      new std::map<int64_t, const hlo::HloComputationProto*>();
  ir::ModuleWriter writer("resharding", *no_computations);
  const hlo::OpSharding before = ToProto(from, shape, context.mesh);
  const hlo::OpSharding after = ToProto(to, shape, context.mesh);
  v1::Program program;
  const int64_t activation = writer.AddParameter(shape, before);
  *program.add_inputs() = MakeBoundaryInput(shape, 1);
  std::vector<int64_t> cotangents;
  for (int i = 0; i < gradients; ++i) {
    cotangents.push_back(writer.AddParameter(shape, after));
    *program.add_inputs() = MakeBoundaryInput(shape, 2 + i);
  }
  std::vector<int64_t> outputs = {
      writer.AddOp("copy", shape, {activation}, after)};
  for (int64_t cotangent : cotangents) {
    outputs.push_back(writer.AddOp("copy", shape, {cotangent}, before));
  }
  program.set_hlo_module(writer.Finish(outputs, {}).SerializeAsString());
  program.set_num_partitions(static_cast<int>(CountDevices(context.mesh)));
  program.set_key(ComputeProgramKey(program, context));
  return program;
}

}  // namespace meshwright::space
