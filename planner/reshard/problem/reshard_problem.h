// ReshardProblem: unit communication tasks between hosts, to be scheduled.
//
// Concept: a unit task is one broadcast. It carries one slice of a tensor from
// one of the hosts that hold it to all hosts that need it. It occupies the
// outgoing port of the sender chosen and the incoming port of every receiver
// from start to end. Ports are apart: a host sends and receives at once. Tasks
// that share a port do not overlap, unless the port has several links.
//
// Units: bytes, bytes per second.
// Source: papers/cross_mesh_resharding.txt 3.2, Eqs. 1-3.
// Beyond the paper, each off unless asked for: ports of unequal speed, several
// links per port, tasks that several holders send parts of.
#ifndef MESHWRIGHT_PLANNER_RESHARD_PROBLEM_RESHARD_PROBLEM_H_
#define MESHWRIGHT_PLANNER_RESHARD_PROBLEM_RESHARD_PROBLEM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace meshwright::reshard {

inline constexpr int kMaxTasks = 100'000;
inline constexpr int kMaxLinks = 64;  // of one port
inline constexpr int64_t kMaxBytes = int64_t{1} << 62;

struct Host {
  std::string name;
  // Of each link of a port; absent: the problem's. 0: nothing passes.
  std::optional<double> out_bytes_per_s;
  std::optional<double> in_bytes_per_s;
  int out_links = 1;
  int in_links = 1;
};

// The maximum speed from one host to another, whatever their ports carry.
struct Route {
  int from = 0;
  int to = 0;
  double bytes_per_s = 0;  // 0: there is no way
};

struct UnitTask {
  std::string id;
  int64_t size_bytes = 0;
  std::vector<int> senders;  // hosts, any one of which may send
  // Empty: every host that needs the slice holds it; nothing is sent.
  std::vector<int> receivers;
};

struct ReshardProblem {
  double bandwidth_bytes_per_s = 0;
  std::vector<Host> hosts;
  std::vector<Route> routes;
  std::vector<UnitTask> tasks;
  bool split = false;  // several senders of a task may each send a part
};

}  // namespace meshwright::reshard

#endif  // MESHWRIGHT_PLANNER_RESHARD_PROBLEM_RESHARD_PROBLEM_H_
