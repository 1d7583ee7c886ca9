#include "planner/cluster/timing.h"

#include <bit>

#include "base/link.h"

namespace meshwright::cluster {
namespace {

// Not of a broadcast.
base::Collective ToCollective(Operation operation) {
  switch (operation) {
    case Operation::kAllReduce:
      return base::Collective::kAllReduce;
    case Operation::kAllGather:
      return base::Collective::kAllGather;
    case Operation::kReduceScatter:
      return base::Collective::kReduceScatter;
    case Operation::kAllToAll:
      return base::Collective::kAllToAll;
    case Operation::kBroadcast:
    case Operation::kSendReceive:
      break;
  }
  return base::Collective::kCollectivePermute;
}

}  // namespace

const char* NameOperation(Operation operation) {
  switch (operation) {
    case Operation::kAllReduce:
      return "all-reduce";
    case Operation::kAllGather:
      return "all-gather";
    case Operation::kReduceScatter:
      return "reduce-scatter";
    case Operation::kAllToAll:
      return "all-to-all";
    case Operation::kBroadcast:
      return "broadcast";
    case Operation::kSendReceive:
      break;
  }
  return "send-receive";
}

std::optional<Operation> ParseOperation(std::string_view name) {
  for (const Operation operation : kOperations) {
    if (name == NameOperation(operation)) return operation;
  }
  return std::nullopt;
}

Work CountWork(Operation operation, int64_t devices, double bytes) {
  if (devices <= 1) return {};
  if (operation == Operation::kBroadcast) {
    const int steps = std::bit_width(static_cast<uint64_t>(devices - 1));
    return {static_cast<double>(steps), steps * bytes};
  }
  // The formula is linear in both figures.
  const base::Collective collective = ToCollective(operation);
  return {base::EstimateCollectiveSeconds(collective, devices, bytes, {1, 0}),
          base::EstimateCollectiveSeconds(collective, devices, bytes, {0, 1})};
}

double ComputeBusBandwidth(const Timing& timing) {
  if (timing.seconds <= 0) return 0;
  // Every device of a tree receives the bytes once.
  const double bytes =
      timing.operation == Operation::kBroadcast
          ? timing.bytes
          : CountWork(timing.operation, timing.devices, timing.bytes).bytes;
  return bytes / timing.seconds;
}

}  // namespace meshwright::cluster
