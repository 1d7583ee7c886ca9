#include "worker/runner/collective_timer.h"

#include <algorithm>

#include "base/status_macros.h"
#include "worker/runner/small_modules.h"
#include "worker/runner/tensor_values.h"
#include "worker/timing/round_robin.h"

namespace meshwright::worker::runner {

struct CollectiveTimer::Timed {
  std::unique_ptr<pjrt::Executable> executable;
  std::vector<pjrt::Buffer> inputs;  // one per device
};

absl::StatusOr<CollectiveTimer::Timed> CollectiveTimer::Load(
    const hlo::HloModuleProto& module, int devices) const {
  Timed timed;
  ASSIGN_OR_RETURN(timed.executable,
                   client_.Compile(module.SerializeAsString(), 1, devices));
  const hlo::ShapeProto& shape = module.host_program_shape().parameters(0);
  v1::InputSpec ones;
  ones.set_kind(v1::InputSpec::CONSTANT);
  ones.set_value(1);
  ASSIGN_OR_RETURN(
      const pjrt::HostArray array,
      MakeInput(ones, shape.element_type(), {shape.dimensions(0)}));
  for (int device = 0; device < devices; ++device) {
    ASSIGN_OR_RETURN(pjrt::Buffer buffer, client_.Upload(array, device));
    timed.inputs.push_back(std::move(buffer));
  }
  return timed;
}

absl::Status CollectiveTimer::Learn(
    const std::vector<v1::Collective>& collectives, int partitions) {
  std::vector<std::pair<Key, Timed>> timed;
  for (const v1::Collective& collective : collectives) {
    const Key key(collective.kind(), collective.bytes(),
                  collective.group_size(), partitions);
    if (known_.contains(key)) continue;
    const auto module = MakeCollectiveModule(collective, partitions);
    if (!module.ok()) continue;
    absl::StatusOr<Timed> loaded = Load(*module, partitions);
    // A plugin may lack one of them; Sum says which were left out.
    if (loaded.ok()) timed.emplace_back(key, *std::move(loaded));
  }
  if (timed.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(Timed launch, Load(LaunchModule(), partitions));
  timed.emplace_back(Key(), std::move(launch));
  return TimeAll(timed, partitions);
}

absl::Status CollectiveTimer::TimeAll(std::vector<std::pair<Key, Timed>>& timed,
                                      int partitions) {
  // Communication is shown, not planned with: the least samples are enough.
  timing::Protocol brief = protocol_;
  brief.minimum_time = absl::ZeroDuration();
  timing::RoundRobin rounds(brief, std::vector<int>(timed.size(), 1));
  while (const auto turn = rounds.Next()) {
    const Timed& program = timed[turn->program].second;
    std::vector<std::vector<const pjrt::Buffer*>> arguments;
    for (const pjrt::Buffer& input : program.inputs) {
      arguments.push_back({&input});
    }
    RETURN_IF_ERROR(rounds.Execute([&](int) -> absl::StatusOr<timing::Sample> {
      ASSIGN_OR_RETURN(const pjrt::Execution run,
                       program.executable->Execute(arguments, {0}));
      return timing::Sample{run.wall_time, run.cpu_time};
    }));
  }
  const int last = static_cast<int>(timed.size()) - 1;
  const absl::Duration launch = rounds.Summarize(last).minimum;
  for (int i = 0; i < last; ++i) {
    known_[timed[i].first] =
        std::max(rounds.Summarize(i).minimum - launch, absl::ZeroDuration());
  }
  return absl::OkStatus();
}

CollectiveTimer::Communication CollectiveTimer::Sum(
    const std::vector<v1::Collective>& collectives, int partitions) const {
  Communication sum;
  for (const v1::Collective& collective : collectives) {
    const auto found = known_.find(Key(collective.kind(), collective.bytes(),
                                       collective.group_size(), partitions));
    if (found == known_.end()) {
      sum.left_out.push_back(collective.kind());
    } else {
      sum.total += found->second * collective.count();
    }
  }
  return sum;
}

}  // namespace meshwright::worker::runner
