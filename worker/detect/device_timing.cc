#include "worker/detect/device_timing.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "worker/devices/sensors.h"
#include "worker/devices/timing_lock.h"
#include "worker/runner/small_modules.h"
#include "worker/runner/small_program.h"

namespace meshwright::worker::detect {
namespace {

using cluster::DeviceIndex;
using cluster::Operation;

constexpr int64_t kSmallestBytes = 1024;
constexpr absl::Duration kLockLimit = absl::Minutes(10);
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
  collective.set_group_size(devices);
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

// A series: one operation, one group, all sizes.
absl::Status TimeDeviceSeries(const pjrt::Client& client, Operation operation,
                              const std::vector<DeviceIndex>& devices,
                              int64_t maximum_bytes,
                              std::vector<cluster::GroupTiming>& timings) {
  std::vector<runner::SmallProgram> programs;
  std::vector<int64_t> sizes;
  const auto count = static_cast<int64_t>(devices.size());
  for (int64_t bytes = kSmallestBytes; bytes <= maximum_bytes; bytes *= 4) {
    ASSIGN_OR_RETURN(
        hlo::HloModuleProto module,
        runner::MakeCollectiveModule(ToCollective(operation, count, bytes),
                                     client.device_count()));
    if (operation == Operation::kSendReceive) {
      KeepPair(static_cast<int>(devices[0]), static_cast<int>(devices[1]),
               module);
    }
    ASSIGN_OR_RETURN(
        programs.emplace_back(),
        runner::LoadSmallProgram(client, module, client.device_count()));
    sizes.push_back(bytes);
  }
  ASSIGN_OR_RETURN(const std::vector<absl::Duration> times,
                   runner::TimeBeyondLaunch(client, std::move(programs),
                                            client.device_count(), {}));
  for (size_t i = 0; i < sizes.size(); ++i) {
    timings.push_back({devices,
                       {operation, count, static_cast<double>(sizes[i]),
                        absl::ToDoubleSeconds(times[i])}});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<cluster::GroupTiming>> TimeDevices(
    const pjrt::Client& client, const DeviceTimingOptions& options) {
  const auto count = static_cast<size_t>(client.device_count());
  if (count < 2) {
    return absl::InvalidArgumentError(
        "one device has no link; ask for two devices or more");
  }
  ASSIGN_OR_RETURN(
      const auto lock,
      devices::TimingLock::Open(devices::NameTimingGroups(
          client.platform_name(),
          devices::NameDevices(client.platform_name(), client.device_name(),
                               client.resident_count()))));
  RETURN_IF_ERROR(lock->Exclude(kLockLimit, [&] {
    if (options.report) options.report("waiting for another timing to end");
  }));
  const auto report = [&](const std::string& what) {
    if (options.report) options.report(what);
  };
  std::vector<cluster::GroupTiming> timings;
  for (size_t a = 0; a < count; ++a) {
    for (size_t b = a + 1; b < count; ++b) {
      report(absl::StrCat("timing devices ", a, " and ", b));
      RETURN_IF_ERROR(TimeDeviceSeries(client, Operation::kSendReceive,
                                       {DeviceIndex(a), DeviceIndex(b)},
                                       options.maximum_bytes, timings));
    }
  }
  std::vector<DeviceIndex> group;
  for (size_t size = 1; size <= count; ++size) {
    group.emplace_back(size - 1);
    if (size < 2 || count % size != 0) continue;
    for (const Operation operation : kDeviceOperations) {
      report(absl::StrCat("timing ", cluster::NameOperation(operation), " of ",
                          size, " devices"));
      RETURN_IF_ERROR(TimeDeviceSeries(client, operation, group,
                                       options.maximum_bytes, timings));
    }
  }
  return timings;
}

}  // namespace meshwright::worker::detect
