#include "worker/runner/small_program.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "worker/pjrt/buffer.h"
#include "worker/pjrt/executable.h"
#include "worker/runner/small_modules.h"
#include "worker/runner/tensor_values.h"
#include "worker/timing/round_robin.h"

namespace meshwright::worker::runner {

absl::StatusOr<SmallProgram> LoadSmallProgram(const pjrt::Client& client,
                                              const hlo::HloModuleProto& module,
                                              int devices) {
  SmallProgram program;
  ASSIGN_OR_RETURN(program.executable,
                   client.Compile(module.SerializeAsString(), 1, devices));
  const hlo::ShapeProto& shape = module.host_program_shape().parameters(0);
  v1::InputSpec ones;
  ones.set_kind(v1::InputSpec::CONSTANT);
  ones.set_value(1);
  ASSIGN_OR_RETURN(
      const pjrt::HostArray array,
      MakeInput(ones, shape.element_type(), {shape.dimensions(0)}));
  for (int device = 0; device < devices; ++device) {
    ASSIGN_OR_RETURN(pjrt::Buffer buffer, client.Upload(array, device));
    program.inputs.push_back(std::move(buffer));
  }
  return program;
}

absl::StatusOr<std::vector<std::optional<absl::Duration>>> TimeBeyondLaunch(
    const pjrt::Client& client, std::vector<SmallProgram> programs, int devices,
    timing::Protocol protocol, const std::function<void()>& on_run) {
  ASSIGN_OR_RETURN(programs.emplace_back(),
                   LoadSmallProgram(client, LaunchModule(), devices));
  protocol.minimum_time = absl::ZeroDuration();
  timing::RoundRobin rounds(protocol, std::vector<int>(programs.size(), 1));
  while (const auto turn = rounds.Next()) {
    const SmallProgram& program = programs[turn->program];
    std::vector<std::vector<const pjrt::Buffer*>> arguments;
    for (const pjrt::Buffer& input : program.inputs) {
      arguments.push_back({&input});
    }
    RETURN_IF_ERROR(rounds.Execute([&](int) -> absl::StatusOr<timing::Sample> {
      if (on_run != nullptr) on_run();
      ASSIGN_OR_RETURN(const pjrt::Execution run,
                       program.executable->Execute(arguments, {0}));
      return timing::Sample{run.wall_time, run.cpu_time};
    }));
  }
  const int last = static_cast<int>(programs.size()) - 1;
  const absl::Duration launch = rounds.Summarize(last).median;
  std::vector<std::optional<absl::Duration>> times(last);
  for (int i = 0; i < last; ++i) {
    if (rounds.passes(i) == 0) continue;
    times[i] =
        std::max(rounds.Summarize(i).median - launch, absl::ZeroDuration());
  }
  return times;
}

}  // namespace meshwright::worker::runner
