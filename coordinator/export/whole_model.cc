#include "coordinator/export/whole_model.h"

#include "absl/strings/str_cat.h"
#include "coordinator/export/planned_step.h"
#include "coordinator/export/step_writer.h"
#include "coordinator/space/programs/inputs.h"

namespace meshwright::exporting {

using ir::ValueId;
using segmenter::Analysis;
using space::Sharding;

std::string NameArgument(const ir::Instruction& argument) {
  const std::string& label = argument.attributes().metadata().op_name();
  return label.empty() ? argument.name() : label;
}

std::string FormatSharding(const Sharding& sharding, int rank) {
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

v1::Program MakeWholeProgram(const Analysis& analysis,
                             const space::ProfileSpace& space,
                             const space::SegmentChoice& choice) {
  const PlannedStep step(analysis, space, choice);
  v1::Program program;
  program.set_hlo_module(WriteStep(analysis, step));
  program.set_num_partitions(
      static_cast<int>(space::CountDevices(space.context.mesh)));
  for (v1::InputSpec& input : space::MakeArgumentInputs(analysis)) {
    *program.add_inputs() = std::move(input);
  }
  program.set_key(space::ComputeProgramKey(program, space.context));
  return program;
}

void DescribeArguments(const Analysis& analysis,
                       const space::ProfileSpace& space,
                       const space::SegmentChoice& choice, v1::Plan* plan) {
  const PlannedStep step(analysis, space, choice);
  const ir::Module& module = analysis.module;
  for (size_t number = 0; number < module.parameters.size(); ++number) {
    const ValueId id = module.parameters[number];
    const ir::Instruction& it = module.at(id);
    v1::PlanArgument& argument = *plan->add_arguments();
    argument.set_index(static_cast<int>(number));
    argument.set_name(NameArgument(it));
    argument.set_role(segmenter::NameRole(analysis.passes.roles[number]));
    argument.set_sharding(
        FormatSharding(step.GetArgumentSharding(id), it.shape.rank()));
    for (int64_t dim : it.shape.dims) argument.add_shape(dim);
  }
  for (size_t number = 0; number < module.outputs.size(); ++number) {
    const ValueId id = module.outputs[number];
    const ir::Instruction& it = module.at(id);
    const segmenter::Owner owner = analysis.plan.owner[id];
    const Sharding sharding =
        owner.IsSegment() ? step.Leaving(owner.segment(), id)
        : it.opcode == ir::Opcode::kParameter ? step.GetArgumentSharding(id)
                                              : step.Whole();
    v1::PlanArgument& output = *plan->add_outputs();
    output.set_index(static_cast<int>(number));
    output.set_role("result");
    for (size_t p = 0; p < module.parameters.size(); ++p) {
      if (analysis.passes.state_output[p] == static_cast<int>(number)) {
        output.set_role(segmenter::NameRole(analysis.passes.roles[p]));
        output.set_name(plan->arguments(static_cast<int>(p)).name());
      }
    }
    output.set_sharding(FormatSharding(sharding, it.shape.rank()));
    for (int64_t dim : it.shape.dims) output.add_shape(dim);
  }
}

}  // namespace meshwright::exporting
