#include "coordinator/launch/sequence.h"

#include <vector>

#include "base/status_macros.h"
#include "coordinator/ir/load/load.h"
#include "coordinator/space/programs/inputs.h"

namespace meshwright::launch {
namespace {

// Between the seeds of micro-batches; those of arguments count from 1.
constexpr uint64_t kMicroBatchSeeds = uint64_t{1} << 20;

int AddProgram(const v1::Program& program, v1::RunnerRequest& request) {
  for (int i = 0; i < request.programs_size(); ++i) {
    if (request.programs(i).key() == program.key()) return i;
  }
  *request.add_programs() = program;
  return request.programs_size() - 1;
}

v1::InputSpec Moved(v1::InputSpec input, int micro_batch, uint64_t seeds) {
  input.set_seed(input.seed() + seeds +
                 kMicroBatchSeeds * static_cast<uint64_t>(micro_batch));
  return input;
}

}  // namespace

v1::Sequence AddSequence(const Launch& launch, uint64_t seeds,
                         v1::RunnerRequest& request) {
  const std::vector<v1::InputSpec> arguments =
      space::MakeArgumentInputs(launch.analysis);
  v1::Sequence sequence;
  for (const LaunchInput& it : launch.inputs) {
    v1::Sequence::Value& value = *sequence.add_values();
    value.set_slot(it.slot);
    if (!it.argument.has_value()) {
      value.mutable_input()->set_kind(v1::InputSpec::CONSTANT);
    } else {
      *value.mutable_input() =
          Moved(arguments[*it.argument], it.micro_batch, seeds);
    }
  }
  std::vector<int> programs;
  for (const LaunchModule& module : launch.modules) {
    programs.push_back(AddProgram(module.program, request));
  }
  for (const LaunchCall& it : launch.calls) {
    v1::Sequence::Call& call = *sequence.add_calls();
    call.set_program(programs[it.module]);
    call.mutable_inputs()->Assign(it.inputs.begin(), it.inputs.end());
    call.mutable_outputs()->Assign(it.outputs.begin(), it.outputs.end());
  }
  for (const LaunchResult& it : launch.results) sequence.add_results(it.slot);
  return sequence;
}

absl::StatusOr<v1::Sequence> AddWholeStep(const std::string& hlo_module,
                                          const Launch& launch, uint64_t seeds,
                                          v1::RunnerRequest& request) {
  ASSIGN_OR_RETURN(const hlo::HloModuleProto module,
                   ir::ParseModule(hlo_module));
  v1::Program program;
  program.set_label("the step on one device");
  program.set_hlo_module(module.SerializeAsString());
  program.set_num_partitions(1);
  v1::Sequence sequence;
  v1::Sequence::Call call;
  int slot = 0;
  for (const v1::InputSpec& input :
       space::MakeArgumentInputs(launch.analysis)) {
    *program.add_inputs() = input;
    v1::Sequence::Value& value = *sequence.add_values();
    value.set_slot(slot);
    *value.mutable_input() = Moved(input, 0, seeds);
    call.add_inputs(slot++);
  }
  program.set_key(space::ComputeProgramKey(program, {}));
  call.set_program(AddProgram(program, request));
  const int first = slot;
  const auto outputs = launch.analysis.module.outputs.size();
  for (size_t k = 0; k < outputs; ++k) call.add_outputs(slot++);
  *sequence.add_calls() = std::move(call);
  for (const LaunchResult& it : launch.results) {
    sequence.add_results(first + it.output);
  }
  return sequence;
}

}  // namespace meshwright::launch
