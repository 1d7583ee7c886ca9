// Plan: what a group of hosts does to move the slices of one resharding.
//
// Concept: every host runs one rank (rank.h) with the same plan. Tasks stand in
// the order of the schedule. A task occupies the outgoing port of its sender
// and the incoming port of each receiver. It starts as soon as all of these are
// free of earlier tasks. The first host is the leader: it says START, and
// COMMIT once every rank has everything.
// Shapes: `sender` and `receivers` are indices into `hosts`.
// Units: bytes, seconds, seconds per byte.
// Threads: plain values.
// Errors: kInvalidArgument, one sentence that names the task or host.
// Source: papers/cross_mesh_resharding.txt, section 3; a host in place of a
// device is a rank here, and `node` says which ranks share fast links.
#ifndef MESHWRIGHT_WORKER_COMM_PROTOCOL_PLAN_H_
#define MESHWRIGHT_WORKER_COMM_PROTOCOL_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/link.h"

namespace meshwright::worker::comm {

// Section 3.1, in its order.
enum class Strategy {
  kSendReceive,      // the whole slice to each receiver, one by one
  kLocalAllGather,   // parts to a node's ranks, which gather them; per node
  kGlobalAllGather,  // parts to all receivers, which gather them
  kBroadcast,        // chunk after chunk along a chain of all receivers
};

std::string NameStrategy(Strategy strategy);  // send_receive, ...
std::optional<Strategy> ParseStrategy(const std::string& name);

struct Host {
  std::string id;
  std::string address;  // HOST:PORT, where this rank listens
  std::string node;     // ranks with equal names share a node
};

struct Task {
  std::string id;
  int64_t size_bytes = 0;
  int sender = 0;
  std::vector<int> receivers;  // in the order of the chain
  Strategy strategy = Strategy::kBroadcast;
  int64_t chunks = 0;  // 0: chosen from the link (chunks.h)
};

// The transport of the chunks; all else goes over TCP.
enum class Carrier {
  kTcp,
  kNccl,  // between the GPUs of the hosts (nccl_channels.h)
};

struct Plan {
  std::vector<Host> hosts;
  base::Link link;
  std::vector<Task> tasks;
  // A lost or stuck peer is an error on every rank within this time.
  double deadline_seconds = 10;
  // How long a rank waits for the others to come up.
  double connect_seconds = 10;
  Carrier carrier = Carrier::kTcp;
};

absl::Status Validate(const Plan& plan);

// Equal for plans that move the same bytes in the same order; addresses and
// timeouts may differ (a proxy, a slow host). Call on a valid plan.
std::string ComputeFingerprint(const Plan& plan);

// The index of `id` among the hosts; kInvalidArgument lists them.
absl::StatusOr<int> FindHostNamed(const Plan& plan, const std::string& id);

// Tasks of one host, in order.
struct Ports {
  std::vector<int> outgoing;
  std::vector<int> incoming;
};
Ports FindPorts(const Plan& plan, int host);

// The ranks that `host` talks to: those it shares a task with, and the leader
// (the leader: all), ascending, without itself.
std::vector<int> FindPeers(const Plan& plan, int host);

}  // namespace meshwright::worker::comm

#endif  // MESHWRIGHT_WORKER_COMM_PROTOCOL_PLAN_H_
