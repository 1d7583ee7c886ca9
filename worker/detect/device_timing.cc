#include "worker/detect/device_timing.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "worker/runner/small_modules.h"
#include "worker/runner/small_program.h"

namespace meshwright::worker::detect {
namespace {

using cluster::DeviceIndex;
using cluster::Operation;

constexpr int64_t kSmallestBytes = 1024;
constexpr Operation kDeviceOperations[] = {
    Operation::kAllReduce, Operation::kAllGather, Operation::kReduceScatter,
    Operation::kAllToAll};

// As the runner's small modules want it: bytes of the result.
v1::Collective ToCollective(Operation operation, int64_t devices,
                            int64_t bytes) {
  v1::Collective collective;
  collective.set_kind(operation == Operation::kSendReceive
                          ? "collective-permute"
                          : cluster::NameOperation(operation));
  // A pair need not divide the devices: its group is not looked at.
  collective.set_group_size(operation == Operation::kSendReceive ? 1 : devices);
  collective.set_bytes(operation == Operation::kAllGather ? bytes * devices
                       : operation == Operation::kReduceScatter
                           ? std::max<int64_t>(bytes / devices, 4)
                           : bytes);
  return collective;
}

// Moves bytes both ways between two devices, and nowhere else.
void KeepPair(int a, int b, hlo::HloModuleProto& module) {
  for (auto& computation : *module.mutable_computations()) {
    for (auto& instruction : *computation.mutable_instructions()) {
      if (instruction.opcode() != "collective-permute") continue;
      instruction.clear_source_target_pairs();
      for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
        auto& pair = *instruction.add_source_target_pairs();
        pair.set_source(from);
        pair.set_target(to);
      }
    }
  }
}

// "send-receive_0_3".
std::string NameSeries(const DeviceSeries& series) {
  return absl::StrCat(
      cluster::NameOperation(series.operation), "_",
      absl::StrJoin(series.devices, "_", [](std::string* out, DeviceIndex it) {
        absl::StrAppend(out, static_cast<size_t>(it));
      }));
}

}  // namespace

std::vector<DeviceSeries> ListDeviceSeries(size_t devices) {
  std::vector<DeviceSeries> all;
  for (size_t a = 0; a < devices; ++a) {
    for (size_t b = a + 1; b < devices; ++b) {
      all.push_back(
          {Operation::kSendReceive, {DeviceIndex(a), DeviceIndex(b)}});
    }
  }
  std::vector<DeviceIndex> group;
  for (size_t size = 1; size <= devices; ++size) {
    group.emplace_back(size - 1);
    if (size < 2 || devices % size != 0) continue;
    for (const Operation operation : kDeviceOperations) {
      all.push_back({operation, group});
    }
  }
  return all;
}

absl::StatusOr<std::vector<cluster::GroupTiming>> TimeDeviceSeries(
    const pjrt::Client& client, const DeviceSeries& series,
    int64_t maximum_bytes) {
  const auto& [operation, devices] = series;
  std::vector<runner::SmallProgram> programs;
  std::vector<int64_t> sizes;
  const auto count = static_cast<int64_t>(devices.size());
  for (int64_t bytes = kSmallestBytes; bytes <= maximum_bytes; bytes *= 4) {
    ASSIGN_OR_RETURN(
        hlo::HloModuleProto module,
        runner::MakeCollectiveModule(ToCollective(operation, count, bytes),
                                     client.device_count()));
    module.set_name(NameSeries(series));
    if (operation == Operation::kSendReceive) {
      KeepPair(static_cast<int>(devices[0]), static_cast<int>(devices[1]),
               module);
    }
    ASSIGN_OR_RETURN(
        programs.emplace_back(),
        runner::LoadSmallProgram(client, module, client.device_count()));
    sizes.push_back(bytes);
  }
  ASSIGN_OR_RETURN(const std::vector<std::optional<absl::Duration>> times,
                   runner::TimeBeyondLaunch(client, std::move(programs),
                                            client.device_count(), {}));
  std::vector<cluster::GroupTiming> timings;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!times[i].has_value()) continue;
    timings.push_back({devices,
                       {operation, count, static_cast<double>(sizes[i]),
                        absl::ToDoubleSeconds(*times[i])}});
  }
  return timings;
}

}  // namespace meshwright::worker::detect
