#include "coordinator/stages/gradient_sums.h"

#include <map>

#include "coordinator/ir/opcode.h"
#include "coordinator/ir/write.h"
#include "coordinator/space/programs/inputs.h"

namespace meshwright::stages {

std::optional<v1::Program> GradientSums(
    const segmenter::Analysis& analysis, const segmenter::SegmentGraph& graph,
    const space::SegmentAnnotation& annotation,
    const std::vector<int>& gradients, const space::KeyContext& context) {
  const std::map<int64_t, const hlo::HloComputationProto*> no_computations;
  ir::ModuleWriter writer("sums", no_computations);
  v1::Program program;
  std::vector<int64_t> outputs;
  std::vector<ir::Alias> aliases;
  for (const int gradient : gradients) {
    const ir::Shape& shape =
        analysis.module.at(graph.values[gradient].origin).shape;
    if (!ir::IsFloating(shape.element_type)) continue;
    const hlo::OpSharding split =
        space::ToProto(annotation.GetSharding(gradient, shape, context.mesh),
                       shape, context.mesh);
    const int64_t sum = writer.AddParameter(shape, split);
    const int64_t one = writer.AddParameter(shape, split);
    for (int i = 0; i < 2; ++i) {
      *program.add_inputs() =
          space::BoundaryInput(shape, static_cast<uint64_t>(gradient));
    }
    const auto output = static_cast<int>(outputs.size());
    aliases.push_back({output, 2 * output});
    outputs.push_back(writer.AddOp("add", shape, {sum, one}, split));
  }
  if (outputs.empty()) return std::nullopt;
  program.set_hlo_module(writer.Finish(outputs, aliases).SerializeAsString());
  program.set_num_partitions(
      static_cast<int>(space::DeviceCount(context.mesh)));
  program.set_key(space::ProgramKey(program, context));
  return program;
}

}  // namespace meshwright::stages
