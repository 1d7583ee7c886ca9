// Timing: one timed collective, and what it tells about its links.
//
// Concept: a collective is a number of steps, each of which sends some bytes
// over every link of its group at once. With alpha seconds a step and beta
// seconds a byte it takes steps alpha + bytes beta. The figures are those of
// base/link.h; send/receive is its collective-permute. A broadcast goes along a
// binomial tree: every step doubles the devices that hold the bytes.
//   Bus bandwidth is the rate at which the busiest link carries bytes, whatever
// the size of the group: for an all-reduce of S bytes in t seconds S/t
// 2(n-1)/n.
// Units: bytes held per device before the step, seconds, bytes per second.
// Threads: pure functions.
// Source: papers/map_colossal_auto.txt 4.2 (bus bandwidth); docs/formats/
// links.md. The paper times all-reduce alone.
#ifndef MESHWRIGHT_PLANNER_CLUSTER_TIMING_H_
#define MESHWRIGHT_PLANNER_CLUSTER_TIMING_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace meshwright::cluster {

enum class Operation {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kSendReceive,
};

inline constexpr Operation kOperations[] = {
    Operation::kAllReduce, Operation::kAllGather, Operation::kReduceScatter,
    Operation::kAllToAll,  Operation::kBroadcast, Operation::kSendReceive};

const char* NameOperation(Operation operation);  // "all-reduce", ...
std::optional<Operation> ParseOperation(std::string_view name);

struct Timing {
  Operation operation = Operation::kSendReceive;
  int64_t devices = 2;  // of the group
  double bytes = 0;
  double seconds = 0;
};

struct Work {
  double steps = 0;
  double bytes = 0;  // over each link, all steps together
};

// Nothing for a group of one.
Work CountWork(Operation operation, int64_t devices, double bytes);

double ComputeBusBandwidth(const Timing& timing);

}  // namespace meshwright::cluster

#endif  // MESHWRIGHT_PLANNER_CLUSTER_TIMING_H_
